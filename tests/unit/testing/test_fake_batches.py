"""Batches and transactions of the fake."""

import pytest

from singletable.errors import StorageError, TransactionFailedError

LARGE = {"S": "x" * 399_000}


def key(sk):
    return {"pk": {"S": "p"}, "sk": {"S": str(sk)}}


def put(sk, **attributes):
    return {"PutRequest": {"Item": {**key(sk), **attributes}}}


def transact_put(sk, **params):
    return {"Put": {"TableName": "t", "Item": key(sk), **params}}


def transact_delete(sk, **params):
    return {"Delete": {"TableName": "t", "Key": key(sk), **params}}


def refused(message):
    return pytest.raises(StorageError, match=rf"^ValidationException: .*{message}")


def stored(database):
    return [item["sk"]["S"] for item in database.items("t")]


def test_batch_write(send, database):
    send("BatchWriteItem", RequestItems={"t": [put(1), put(2)], "u": [put(3)]})
    response = send("BatchWriteItem", RequestItems={"t": [{"DeleteRequest": {"Key": key(1)}}, put(4)]})
    assert response == {"UnprocessedItems": {}}
    assert (stored(database), len(database.items("u"))) == (["2", "4"], 1)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([put(number) for number in range(26)], "Too many items"),
        ([put(1), put(1)], "contains duplicates"),
        ([put(1), {"DeleteRequest": {"Key": key(1)}}], "contains duplicates"),
        ([], "between 1 and 25"),
        ([{}], "exactly one of PutRequest or DeleteRequest"),
        ([{**put(1), "DeleteRequest": {"Key": key(2)}}], "exactly one of PutRequest or DeleteRequest"),
        ([put(1), put(2, a={"SS": []})], "set may not be empty"),
    ],
)
def test_batch_write_that_is_refused_writes_nothing(send, database, members, message):
    with refused(message):
        send("BatchWriteItem", RequestItems={"t": members})
    assert database.items("t") == []


@pytest.mark.parametrize("operation", ["BatchWriteItem", "BatchGetItem"])
def test_empty_batch_is_refused(send, operation):
    with refused("greater than or equal to 1"):
        send(operation, RequestItems={})


def test_batch_write_counts_all_tables(send):
    with refused("Too many items"):
        send("BatchWriteItem", RequestItems={name: [put(number) for number in range(13)] for name in "tu"})


def test_batch_write_of_full_items_fits(send):
    send("BatchWriteItem", RequestItems={"t": [put(number, a=LARGE) for number in range(25)]})


def test_batch_write_of_sixteen_megabytes_of_json(send, database):
    # A control character is one byte stored and six in JSON.
    members = [put(number, a={"S": "\x01" * 120_000}, b={"B": b"1"}) for number in range(25)]
    with refused("larger than 16 MB"):
        send("BatchWriteItem", RequestItems={"t": members})
    assert database.items("t") == []


def test_batch_get(send):
    send("BatchWriteItem", RequestItems={"t": [put(number, n={"N": "1"}) for number in range(5)]})
    asked = {"Keys": [key(number) for number in range(7)], "ProjectionExpression": "sk", "ConsistentRead": True}
    response = send("BatchGetItem", RequestItems={"t": asked})
    assert response["UnprocessedKeys"] == {}
    found = [item["sk"]["S"] for item in response["Responses"]["t"]]
    assert sorted(found) == ["0", "1", "2", "3", "4"]
    assert found != sorted(found), "nobody may rely on the order"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([key(number) for number in range(101)], "Too many items"),
        ([key(1), key(1)], "contains duplicates"),
        ([], "between 1 and 100"),
    ],
)
def test_batch_get_that_is_refused(send, keys, message):
    with refused(message):
        send("BatchGetItem", RequestItems={"t": {"Keys": keys}})


def test_batch_get_answers_at_most_sixteen_megabytes(send):
    for start in (0, 25):
        members = [put(number, a=LARGE) for number in range(start, start + 25)]
        send("BatchWriteItem", RequestItems={"t": members})
    wanted = {"t": {"Keys": [key(number) for number in range(50)], "ConsistentRead": True}}
    found = []
    rounds = 0
    while wanted:
        response = send("BatchGetItem", RequestItems=wanted)
        found += response["Responses"]["t"]
        wanted = response["UnprocessedKeys"]
        assert all(asked["ConsistentRead"] for asked in wanted.values())
        rounds += 1
    assert (len(found), rounds) == (50, 2)


def test_transaction_applies_all(send, database):
    send("TransactWriteItems", TransactItems=[transact_put(1), transact_put(2)])
    condition = {"ConditionExpression": "attribute_exists(pk)"}
    update = {
        "TableName": "t",
        "Key": key(3),
        "UpdateExpression": "SET n = :n",
        "ExpressionAttributeValues": {":n": {"N": "1"}},
    }
    members = [
        transact_delete(1),
        {"ConditionCheck": {"TableName": "t", "Key": key(2), **condition}},
        {"Update": update},
    ]
    assert send("TransactWriteItems", TransactItems=members) == {}
    assert database.items("t") == [key(2), {**key(3), "n": {"N": "1"}}]


def test_transaction_applies_nothing_and_says_why(send, database):
    send("PutItem", Item={**key(1), "text": {"S": "x"}})
    absent = {"ConditionExpression": "attribute_not_exists(pk)"}
    increment = {"UpdateExpression": "SET #t = #t + :n", "ExpressionAttributeNames": {"#t": "text"}}
    members = [
        transact_put(2),
        transact_delete(1, **absent, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        transact_delete(3, ConditionExpression="attribute_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        {"Update": {"TableName": "t", "Key": key(4), **increment, "ExpressionAttributeValues": {":n": {"N": "1"}}}},
    ]
    with pytest.raises(TransactionFailedError, match=r"^TransactionCanceledException: ") as caught:
        send("TransactWriteItems", TransactItems=members)
    codes = [reason.code for reason in caught.value.reasons]
    assert codes == ["None", "ConditionalCheckFailed", "ConditionalCheckFailed", "ValidationError"]
    assert [reason.item for reason in caught.value.reasons] == [None, {**key(1), "text": {"S": "x"}}, None, None]
    assert "does not exist in the item" in caught.value.reasons[3].message
    assert (caught.value.operation, caught.value.table) == ("TransactWriteItems", "t")
    assert stored(database) == ["1"]


def test_failed_member_shows_its_item_only_when_asked(send):
    send("PutItem", Item=key(1))
    with pytest.raises(TransactionFailedError) as caught:
        send("TransactWriteItems", TransactItems=[transact_put(1, ConditionExpression="attribute_not_exists(pk)")])
    assert caught.value.reasons[0].item is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "between 1 and 100"),
        ([transact_put(number) for number in range(101)], "between 1 and 100"),
        ([transact_put(1), transact_delete(1)], "multiple operations on one item"),
        ([{}], "exactly one of"),
        ([{**transact_put(1), **transact_delete(2)}], "exactly one of"),
        ([{"Get": {"TableName": "t", "Key": key(1)}}], "exactly one of"),
        ([{"ConditionCheck": {"TableName": "t", "Key": key(1)}}], "'ConditionExpression' is required"),
        ([{"Update": {"TableName": "t", "Key": key(1)}}], "'UpdateExpression' is required"),
        ([transact_put(1, ReturnValues="ALL_OLD")], "Unknown parameter"),
        ([transact_put(1), transact_put("")], "empty string value"),
    ],
)
def test_transaction_that_is_refused_writes_nothing(send, database, members, message):
    with refused(message):
        send("TransactWriteItems", TransactItems=members)
    assert database.items("t") == []


@pytest.mark.parametrize(("count", "fits"), [(10, True), (11, False)])
def test_transaction_of_four_megabytes(send, database, count, fits):
    members = [{"Put": {"TableName": "t", "Item": {**key(number), "a": LARGE}}} for number in range(count)]
    if fits:
        send("TransactWriteItems", TransactItems=members)
        assert len(database.items("t")) == count
    else:
        with refused("exceeds 4 MB"):
            send("TransactWriteItems", TransactItems=members)
        assert database.items("t") == []


def test_transact_get(send):
    send("PutItem", Item={**key(1), "n": {"N": "1"}})
    members = [{"Get": {"TableName": "t", "Key": key(number)}} for number in (2, 1)]
    members[1]["Get"]["ProjectionExpression"] = "n"
    assert send("TransactGetItems", TransactItems=members) == {"Responses": [{}, {"Item": {"n": {"N": "1"}}}]}


@pytest.mark.parametrize(
    ("numbers", "message"), [(range(101), "between 1 and 100"), ([1, 1], "multiple operations on one item")]
)
def test_transact_get_that_is_refused(send, numbers, message):
    with refused(message):
        send("TransactGetItems", TransactItems=[{"Get": {"TableName": "t", "Key": key(number)}} for number in numbers])


def test_transact_get_of_four_megabytes(send):
    send("BatchWriteItem", RequestItems={"t": [put(number, a=LARGE) for number in range(11)]})
    with refused("exceeds 4 MB"):
        send("TransactGetItems", TransactItems=[{"Get": {"TableName": "t", "Key": key(n)}} for n in range(11)])


def increment(by="1"):
    return [
        {
            "Update": {
                "TableName": "t",
                "Key": key(1),
                "UpdateExpression": "ADD n :n",
                "ExpressionAttributeValues": {":n": {"N": by}},
            }
        }
    ]


def test_token_is_applied_once(send, database):
    for _ in range(3):
        assert send("TransactWriteItems", TransactItems=increment(), ClientRequestToken="token") == {}
    assert database.items("t") == [{**key(1), "n": {"N": "1"}}]
    send("TransactWriteItems", TransactItems=increment(), ClientRequestToken="another")
    assert database.items("t") == [{**key(1), "n": {"N": "2"}}]


def test_token_with_other_params_is_refused(send, database):
    send("TransactWriteItems", TransactItems=increment(), ClientRequestToken="token")
    with pytest.raises(StorageError, match=r"^IdempotentParameterMismatchException: "):
        send("TransactWriteItems", TransactItems=increment("2"), ClientRequestToken="token")
    assert database.items("t") == [{**key(1), "n": {"N": "1"}}]


def test_token_of_a_cancelled_transaction_may_be_used_again(send, database):
    members = [transact_put(2, ConditionExpression="attribute_exists(pk)")]
    with pytest.raises(TransactionFailedError):
        send("TransactWriteItems", TransactItems=members, ClientRequestToken="token")
    send("PutItem", Item=key(2))
    assert send("TransactWriteItems", TransactItems=members, ClientRequestToken="token") == {}


@pytest.mark.parametrize("token", ["", "x" * 37])
def test_token_length(send, token):
    with refused("between 1 and 36"):
        send("TransactWriteItems", TransactItems=increment(), ClientRequestToken=token)
