"""What a pull request closes, and how the classifier's answer is read."""

import pytest

from convergence.decisions.scope import closing_references, scope_due, scope_verdict
from convergence.fingerprint import fingerprint

HERE = "acme/shop"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Closes #7", [(HERE, 7)]),
        ("fixed #7, resolves: #8 and #9", [(HERE, 7), (HERE, 8)]),
        ("Fix acme/web#3", [("acme/web", 3)]),
        ("closes https://github.com/acme/web/issues/3", [("acme/web", 3)]),
        ("closes https://github.com/acme/web/pull/3", []),
        ("prefix #7, see #8, fixing #9", []),
        ("Closes #7 closes #7", [(HERE, 7)]),
        ("", []),
    ],
)
def test_closing_keywords_name_issues(text, found):
    assert list(closing_references([text], HERE)) == found


@pytest.mark.parametrize(
    ("policy", "closes", "due"),
    [("always", 0, True), ("always", 2, True), ("closing", 0, False), ("closing", 1, True), ("never", 2, False)],
)
def test_when_a_check_is_due(policy, closes, due):
    """CV-S46."""
    assert scope_due(policy, closes) is due


BLOCKED = {"scopeBlocked": True, "scopeBlockReason": "Taxes are left out."}


@pytest.mark.parametrize(
    ("artifact", "ruled", "result"),
    [
        (BLOCKED, "", "blocked"),
        (BLOCKED, fingerprint("Something else"), "blocked"),
        (BLOCKED, fingerprint("taxes are *left out*"), "passed"),
        ({"scopeBlocked": False, "scopeBlockReason": "x"}, "", "passed"),
        ({**BLOCKED, "scopeBlocked": "true"}, "", "unchecked"),
        ({**BLOCKED, "scopeBlocked": 1}, "", "unchecked"),
        ({"scopeBlocked": True}, "", "unchecked"),
        ({"scopeBlocked": True, "scopeBlockReason": [1]}, "", "unchecked"),
        ({}, "", "unchecked"),
        (None, "", "unchecked"),
        ([], "", "unchecked"),
    ],
)
def test_only_true_with_a_reason_blocks(artifact, ruled, result):
    """CV-S31, CV-S32: and not with one on which a person has ruled."""
    verdict = scope_verdict(artifact, ruled=ruled)
    assert verdict.result == result
    assert verdict.blocked == (result == "blocked")
    assert bool(verdict.unchecked) == (result == "unchecked")
