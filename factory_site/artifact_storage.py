"""Where stored objects lie: a folder of this host, a folder that hosts share, or a bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from factory_site.config import Config


def artifact_storage(config: Config) -> dict[str, Any]:
    """The entry of Django's STORAGES. Keys of a bucket come from where its client library looks for them."""
    url = config.artifacts_url
    parts = urlsplit(url or "")
    if parts.scheme != "s3":
        folder = unquote(parts.path) if url else config.home / "artifacts"
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": folder, "file_permissions_mode": 0o600},
        }
    query = dict(parse_qsl(parts.query))
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.hostname,
            "location": unquote(parts.path).strip("/"),
            "endpoint_url": query.get("endpoint"),
            "region_name": query.get("region"),
            "file_overwrite": True,  # the same name is the same content
            "default_acl": None,
            "gzip": False,
        },
    }
