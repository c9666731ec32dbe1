"""The same store in a folder that hosts share and in a bucket: what one writes another reads, or is refused."""

import hashlib
import io

import boto3
import pytest
from django.core.files.storage import storages
from moto.server import ThreadedMotoServer

from factory_site.artifact_storage import artifact_storage
from factory_site.config import SettingsError, load_config
from runs.artifacts.store import (
    folder_of,
    object_name,
    object_opened,
    object_put_aside,
    object_removed,
    object_stored,
    quarantine_name,
    store,
)
from runs.contract.errors import Invalid

TEXT = b"hello\n" * 100_000  # more than one piece
SHA256 = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture(scope="module")
def bucket():
    """A far side that speaks S3, with a bucket; its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["file", "s3"])
def shared(request, tmp_path, monkeypatch, settings):
    """The store that FACTORY_ARTIFACTS_URL names."""
    url = f"file://{tmp_path}/shared"
    if request.param == "s3":
        endpoint = request.getfixturevalue("bucket")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket="objects")
        url = f"s3://objects/factory?endpoint={endpoint}&region=us-east-1"
    monkeypatch.setenv("FACTORY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FACTORY_ARTIFACTS_URL", url)
    settings.STORAGES = {**settings.STORAGES, "artifacts": artifact_storage(load_config())}
    yield storages["artifacts"]
    object_removed(SHA256)


def put(content=TEXT, sha256=SHA256):
    return object_stored(io.BytesIO(content), size=len(content), sha256=sha256)


def test_an_object_is_written_once_and_hashed_again_before_it_is_read(shared):
    assert put()
    assert not put()
    assert shared.exists(object_name(SHA256))
    file = object_opened(SHA256)
    assert file is not None
    with file:
        assert file.read() == TEXT
    assert (folder_of(store()) is None) == (type(shared).__name__ == "S3Storage")


def test_bytes_of_another_hash_leave_nothing(shared):
    with pytest.raises(Invalid) as wrong:
        put(b"other" + TEXT[5:])
    assert wrong.value.code == "digest_mismatch"
    assert not shared.exists(object_name(SHA256))
    assert object_opened(SHA256) is None


def test_a_damaged_object_is_not_given_and_lies_in_quarantine_until_it_is_removed(shared):
    """RU-S22"""
    put()
    shared.delete(object_name(SHA256))
    shared.save(object_name(SHA256), io.BytesIO(b"other"))
    assert object_opened(SHA256) is None
    object_put_aside(SHA256)
    assert not shared.exists(object_name(SHA256))
    assert shared.exists(quarantine_name(SHA256))
    object_put_aside(SHA256)
    assert put()
    object_removed(SHA256)
    object_removed(SHA256)
    assert not shared.exists(object_name(SHA256))
    assert not shared.exists(quarantine_name(SHA256))


def test_a_bucket_without_its_packages_names_how_to_install_them(tmp_path, monkeypatch):
    monkeypatch.setenv("FACTORY_HOME", str(tmp_path))
    monkeypatch.setenv("FACTORY_ARTIFACTS_URL", "s3://bucket")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "storages" else object())
    with pytest.raises(SettingsError, match=r"requirements-s3\.lock"):
        load_config()
