"""One identity for one finding, however it is decorated."""

import hashlib

import pytest

from convergence.fingerprint import fingerprint, normalised


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (None, "Should `getUser()` throw, or return **null**?", "3a82af301208209f"),
        (None, "should getuser() throw,\nor return null", "3a82af301208209f"),
        (None, "Should getUser() throw or return null?", "857ec68ae7aafe8b"),
        ("src/app.py", "Use a *constant* here.", "2019a17310acd0d4"),
        ("src/b.py", "Use a constant here.", "1cf6697426e4d885"),
    ],
)
def test_the_published_vectors(path, text, expected):
    assert fingerprint(text, path) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("before\n```python\nx = 1\n```\nafter", "before after"),
        ("before\n~~~\nnever closed", "before"),
        ("a <b>bold</b> word<!-- factory:12 -->", "a bold word"),
        ("see [the docs](https://example.org/a?b=c).", "see the docs"),
        ("# Title\n\n> quoted   text", "title quoted text"),
        ("ＦＵＬＬ width", "full width"),
        ("Really?!.", "really"),
        ("if a < b and c > d", "if a < b and c d"),
    ],
)
def test_decoration_is_dropped_and_words_stay(text, words):
    assert normalised(text) == words


def test_a_path_stands_before_a_line_feed():
    assert fingerprint("x", "a") == hashlib.sha256(b"a\nx").hexdigest()[:16]
