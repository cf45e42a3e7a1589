"""What the mapper costs beside botocore and its peers: `python -m benchmarks`, by hand and never as a test."""
