"""Blobs whose pieces are objects of a bucket, on moto's S3."""

from __future__ import annotations

import os
from itertools import count
from uuid import uuid4

import pytest
from botocore.stub import Stubber

from singletable import AccessDeniedError, ConfigurationError, PayloadMissingError, S3Blobs
from singletable.testing import Crash
from tests import servers

BIG = os.urandom(9_000_000)
OTHER = os.urandom(5_000_000)


@pytest.fixture
def s3(moto_url):
    found = servers.s3(moto_url)
    yield found
    found.close()


@pytest.fixture
def bucket(s3):
    name = f"blobs-{uuid4().hex}"
    s3.create_bucket(Bucket=name)
    return S3Blobs(name, prefix="state/", client=s3)


def stored(bucket, s3):
    return [one["Key"] for one in s3.list_objects_v2(Bucket=bucket.bucket).get("Contents", ())]


def test_what_fits_into_an_item_stays_in_the_table(fake, bucket, s3):
    blobs = fake.store(blobs=bucket).blobs
    blobs.write("a", bytes(390_000))
    assert blobs.read("a") == bytes(390_000)
    assert stored(bucket, s3) == []


@pytest.mark.parametrize("compression", [None, "gzip", "zstd"])
def test_pieces_are_objects(fake, bucket, s3, compression):
    blobs = fake.store(blobs=bucket, compression=compression).blobs
    blobs.write("a/b", BIG)
    assert blobs.read("a/b") == BIG == b"".join(blobs.read_stream("a/b"))
    assert blobs.read_range("a/b", 4_194_300, 4_194_310) == BIG[4_194_300:4_194_310]
    assert len(stored(bucket, s3)) == 3
    assert {item["_entity"]["S"] for item in fake.items()} == {"blob", "blob_entry", "blob_folder"}


def test_what_is_replaced_or_deleted_leaves_nothing(fake, bucket, s3):
    blobs = fake.store(blobs=bucket).blobs
    blobs.write("a", BIG)
    before = stored(bucket, s3)
    blobs.write("a", OTHER)
    assert not set(before) & set(stored(bucket, s3))
    blobs.write("a", b"small")
    assert stored(bucket, s3) == []
    blobs.write("a", OTHER)
    blobs.delete("a")
    assert stored(bucket, s3) == []


def test_pieces_stay_where_they_are_when_the_setting_changes(fake, bucket, s3):
    without, within = fake.store().blobs, fake.store(blobs=bucket).blobs
    without.write("table", OTHER)
    within.write("bucket", OTHER)
    assert within.read("table") == OTHER
    with pytest.raises(ConfigurationError, match="blobs="):
        without.read("bucket")
    within.write("table", BIG)
    assert not [item for item in fake.items() if item["_entity"]["S"] == "blob_piece"]
    assert within.read("table") == BIG


def test_a_tenant_has_a_folder_of_its_own(fake, bucket, s3):
    fake.store(blobs=bucket).scoped("acme/1").blobs.write("a", OTHER)
    assert all(key.startswith("state/%40acme%2F1%23/") for key in stored(bucket, s3))


@pytest.mark.parametrize("number", [1, 2])
def test_what_a_writing_that_died_left_is_found(fake, bucket, s3, number):
    """It dies over its table requests; the objects are there before the last one."""
    blobs = fake.store(blobs=bucket).blobs
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        blobs.write("a", OTHER)
    left = len(stored(bucket, s3))
    assert left == (2 if number == 2 else 0)
    fake.clock.advance(days=1, seconds=1)
    assert blobs.gc(dry_run=True).pieces == left
    assert len(stored(bucket, s3)) == left
    assert blobs.gc().pieces == left
    assert stored(bucket, s3) == []
    assert blobs.read("a") is None


def test_a_missing_object_is_told(fake, bucket, s3):
    blobs = fake.store(blobs=bucket).blobs
    blobs.write("a", OTHER)
    s3.delete_object(Bucket=bucket.bucket, Key=stored(bucket, s3)[0])
    with pytest.raises(PayloadMissingError):
        blobs.read("a")


def test_a_bucket_that_denies_access_changes_nothing(fake, s3):
    fake.store().blobs.write("a", b"old")
    denied = S3Blobs("closed", client=s3)
    with Stubber(s3) as stub:
        for _ in range(2):
            stub.add_client_error("put_object", "AccessDenied", http_status_code=403)
        blobs = fake.store(blobs=denied).blobs
        with pytest.raises(AccessDeniedError, match="put_object"):
            blobs.write("a", OTHER)
    assert blobs.read("a") == b"old"


def test_without_the_bucket_nothing_that_is_in_it_is_replaced_or_forgotten(fake, bucket, s3):
    within, without = fake.store(blobs=bucket).blobs, fake.store().blobs
    within.write("a", OTHER)
    for change in (lambda: without.write("a", b"new"), lambda: without.write("a", BIG), lambda: without.delete("a")):
        with pytest.raises(ConfigurationError, match="blobs="):
            change()
    assert within.read("a") == OTHER
    fake.faults.crash_before(2)
    with pytest.raises(Crash):
        within.write("b", OTHER)
    fake.clock.advance(days=2)
    assert without.gc().pieces == 23  # of the value that it staged over the one in the bucket
    assert len(stored(bucket, s3)) == 4
    assert within.gc().pieces == 2
    assert len(stored(bucket, s3)) == 2


def test_a_bucket_that_is_none(fake, s3):
    blobs = fake.store(blobs=S3Blobs("there-is-none", client=s3)).blobs
    with pytest.raises(ConfigurationError, match="no such bucket"):
        blobs.write("a", OTHER)
    assert blobs.list() == []
    with pytest.raises(ConfigurationError, match="blank"):
        S3Blobs(" ")


def test_p06_p58_a_write_that_fails_over_another_leaves_the_old_value(fake, bucket, s3):
    blobs = fake.store(blobs=bucket).blobs
    blobs.write("a", BIG)
    for number in count(1):
        fake.faults.crash_before(number)
        try:
            fake.store(blobs=bucket).blobs.write("a", OTHER)
            break
        except Crash:
            assert blobs.read("a") in (BIG, OTHER)
        finally:
            fake.faults.clear()
    assert blobs.read("a") == OTHER
    fake.clock.advance(days=2)
    blobs.gc()
    assert len(stored(bucket, s3)) == 2
