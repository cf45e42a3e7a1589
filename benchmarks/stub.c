/* A DynamoDB for benchmarks: answers each operation with the same bytes, so that what is measured is the client.
 *
 *     stub DIRECTORY [DELAY_MS]
 *
 * DIRECTORY holds a file for each operation, such as GetItem, with the JSON to answer; other operations get {}.  The
 * stub listens on 127.0.0.1, prints its port, answers DELAY_MS after a request, and ends when its standard input does.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERS = 32, CONNECTIONS = 1024, SOCKETS = CONNECTIONS + 2, FIRST_BUFFER = 64 * 1024 };

struct answer {
    char operation[64];
    char *text;
    size_t length;
};

struct connection {
    int fd;
    char *in;
    size_t held, room;
    const struct answer *out; /* NULL while a request is awaited */
    size_t sent;
    double due;
};

static struct answer answers[ANSWERS];
static int answer_count;
static struct connection connections[CONNECTIONS];
static int connection_count;
static double delay;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void *allocated(void *memory) {
    if (!memory) fail("memory");
    return memory;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static uint32_t crc32_of(const char *bytes, size_t length) {
    uint32_t sum = ~0u;
    for (size_t i = 0; i < length; i++) {
        sum ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

static void add_answer(const char *operation, const char *body, size_t length) {
    if (answer_count == ANSWERS) fail("too many answers");
    struct answer *answer = &answers[answer_count++];
    snprintf(answer->operation, sizeof answer->operation, "%s", operation);
    answer->text = allocated(malloc(length + 256));
    int head = snprintf(answer->text, 256,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %zu\r\n"
                        "x-amz-crc32: %u\r\nx-amzn-RequestId: STUB\r\n\r\n",
                        length, crc32_of(body, length));
    memcpy(answer->text + head, body, length);
    answer->length = head + length;
}

static void read_answers(const char *directory) {
    add_answer("", "{}", 2); /* the answer to every other operation */
    DIR *entries = opendir(directory);
    if (!entries || chdir(directory)) fail(directory);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.') continue;
        FILE *file = fopen(entry->d_name, "rb");
        if (!file || fseek(file, 0, SEEK_END)) fail(entry->d_name);
        long length = ftell(file);
        rewind(file);
        char *body = allocated(malloc(length + 1));
        if (fread(body, 1, length, file) != (size_t)length) fail(entry->d_name);
        fclose(file);
        add_answer(entry->d_name, body, length);
        free(body);
    }
    closedir(entries);
}

static const struct answer *answer_to(const char *operation, size_t length) {
    for (int i = 1; i < answer_count; i++)
        if (strlen(answers[i].operation) == length && !memcmp(answers[i].operation, operation, length))
            return &answers[i];
    return &answers[0];
}

/* The value of a header, or NULL; `*length` is its length. */
static const char *header(const char *head, const char *name, size_t *length) {
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, strlen(name)) || line[strlen(name)] != ':') continue;
        line += strlen(name) + 1;
        while (*line == ' ') line++;
        *length = strcspn(line, "\r");
        return line;
    }
    return NULL;
}

/* Takes one whole request off the buffer, if one is there. */
static void take_request(struct connection *c) {
    size_t length;
    c->in[c->held] = 0;
    char *end = strstr(c->in, "\r\n\r\n");
    if (c->out || !end) return;
    *end = 0;
    const char *size = header(c->in, "Content-Length", &length);
    size_t whole = end + 4 - c->in + (size ? strtoul(size, NULL, 10) : 0);
    const char *target = header(c->in, "X-Amz-Target", &length);
    const char *dot = target ? memchr(target, '.', length) : NULL;
    const struct answer *found = dot ? answer_to(dot + 1, target + length - dot - 1) : &answers[0];
    *end = '\r';
    if (c->held < whole) return;
    memmove(c->in, c->in + whole, c->held -= whole);
    c->out = found;
    c->sent = 0;
    c->due = now() + delay;
}

/* False when the connection is over. */
static int receive(struct connection *c) {
    if (c->held + 1 == c->room) c->in = allocated(realloc(c->in, c->room *= 2));
    ssize_t got = recv(c->fd, c->in + c->held, c->room - c->held - 1, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (got <= 0) return 0;
    c->held += got;
    take_request(c);
    return 1;
}

static int answer(struct connection *c) {
    ssize_t put = send(c->fd, c->out->text + c->sent, c->out->length - c->sent, 0);
    if (put < 0) return errno == EAGAIN || errno == EINTR;
    c->sent += put;
    if (c->sent == c->out->length) {
        c->out = NULL;
        take_request(c);
    }
    return 1;
}

static void accept_from(int listener) {
    int fd = accept(listener, NULL, NULL), on = 1;
    if (fd < 0) return;
    if (connection_count == CONNECTIONS) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    connections[connection_count++] = (struct connection){.fd = fd, .room = FIRST_BUFFER, .in = malloc(FIRST_BUFFER)};
    allocated(connections[connection_count - 1].in);
}

static int listening(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (void *)&address, size) || listen(listener, 128)) fail("listen");
    if (getsockname(listener, (void *)&address, &size)) fail("port");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

/* Fills `polled` in the order of the connections; the milliseconds until the next answer is due, or -1. */
static int waits(struct pollfd *polled) {
    double time = now(), next = -1;
    for (int i = 0; i < connection_count; i++) {
        struct connection *c = &connections[i];
        int due = c->out && c->due <= time;
        polled[i] = (struct pollfd){.fd = c->fd, .events = c->out ? (due ? POLLOUT : 0) : POLLIN};
        if (c->out && !due && (next < 0 || c->due < next)) next = c->due;
    }
    return next < 0 ? -1 : (int)((next - time) * 1000) + 1;
}

int main(int count, char **arguments) {
    if (count < 2) return fprintf(stderr, "usage: stub DIRECTORY [DELAY_MS]\n"), 2;
    if (count > 2) delay = atof(arguments[2]) / 1000;
    signal(SIGPIPE, SIG_IGN);
    read_answers(arguments[1]);
    int listener = listening();
    static struct pollfd polled[SOCKETS];
    for (;;) {
        int wait = waits(polled + 2);
        polled[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = listener, .events = POLLIN};
        if (poll(polled, connection_count + 2, wait) < 0 && errno != EINTR) fail("poll");
        if (polled[0].revents) return 0;
        for (int i = connection_count - 1; i >= 0; i--) {
            struct connection *c = &connections[i];
            short seen = polled[i + 2].revents;
            if (!seen || (c->out ? answer(c) : receive(c))) continue;
            close(c->fd);
            free(c->in);
            *c = connections[--connection_count];
        }
        if (polled[1].revents) accept_from(listener);
    }
}
