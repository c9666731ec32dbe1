"""Reading from the storage that the forge leads to: without the token, which is not meant for it."""

from urllib.parse import urlsplit

import requests

LARGEST = 32 * 1024 * 1024  # bytes that are read to find the end
READ_SECONDS = 20.0
CHUNK_BYTES = 64 * 1024


def stored_tail(location: str, *, keep: int) -> bytes | None:
    """Return the last ``keep`` bytes of what lies there; None when it cannot be read, or is too large to look through.

    The address may carry a signature, so it stands in no message.
    """
    if urlsplit(location).scheme not in {"https", "http"}:
        return None
    kept, size = b"", 0
    try:
        with requests.get(location, timeout=READ_SECONDS, stream=True, allow_redirects=False) as answer:
            if answer.status_code != requests.codes.ok:
                return None
            for chunk in answer.iter_content(CHUNK_BYTES):
                size += len(chunk)
                if size > LARGEST:
                    return None
                kept = (kept + chunk)[-keep:]
    except requests.RequestException:
        return None
    return kept
