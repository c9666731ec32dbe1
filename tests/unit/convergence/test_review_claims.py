import pytest

from convergence.decisions.review_claims import review_claims

VARIABLES = {"prKey": "acme/shop#12", "prNumber": 12, "prUrl": "https://forge.example/acme/shop/pull/12"}
HEAD, OTHER = "3f2a" * 10, "77aa" * 10
SEEN = {"workspace": {"headSha": HEAD, "remoteSha": HEAD, "pushed": True, "commits": 1}}
UNPUSHED = {"workspace": {"headSha": HEAD, "remoteSha": OTHER, "pushed": False, "commits": 2}}


@pytest.mark.parametrize(
    ("artifact", "evidence", "field"),
    [
        ({"prKey": "acme/shop#13"}, SEEN, "prKey"),
        ({"prNumber": 13}, SEEN, "prNumber"),
        ({"prUrl": "https://forge.example/acme/shop/pull/13/files"}, SEEN, "prUrl"),
        ({"headSha": OTHER}, SEEN, "headSha"),
        ({"headSha": OTHER[:7]}, SEEN, "headSha"),
        ({"pushed": True}, UNPUSHED, "pushed"),
        ({"commits": 1}, UNPUSHED, "commits"),
    ],
)
def test_a_claim_that_does_not_hold_names_field_claim_and_what_was_found(artifact, evidence, field):
    mismatch = review_claims(VARIABLES, artifact, evidence)
    assert mismatch is not None
    assert (mismatch.field, mismatch.claimed) == (field, artifact[field])
    assert mismatch.observed not in (None, artifact[field])
    assert mismatch.sentence.startswith(f"{field} claims ")


@pytest.mark.parametrize(
    ("artifact", "evidence"),
    [
        ({"status": "addressed"}, SEEN),
        ({"prKey": "ACME/shop#12", "prNumber": 12, "prUrl": "https://forge.example/acme/shop/pull/12"}, SEEN),
        ({"headSha": HEAD[:10].upper(), "pushed": True, "commits": 1}, SEEN),
        ({"headSha": OTHER}, UNPUSHED),
        ({"headSha": OTHER, "pushed": True, "commits": 7}, {}),
        ({"pushed": True, "commits": 3}, {"workspace": {"pushed": None, "commits": None}}),
        ({"prNumber": "13", "prKey": 13, "pushed": "no", "commits": True, "headSha": "main", "prUrl": "here"}, SEEN),
        (["not", "an", "object"], SEEN),
        ({"headSha": OTHER}, {"workspace": "unreadable"}),
    ],
)
def test_what_holds_cannot_be_seen_or_is_no_claim_passes(artifact, evidence):
    assert review_claims(VARIABLES, artifact, evidence) is None
