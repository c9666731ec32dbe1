from datetime import timedelta

import pytest

from runs.contract.errors import Invalid
from runs.policy import policy_read


def site(tmp_path, text: str):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    return path


def test_the_shipped_file_alone_is_a_whole_policy(tmp_path):
    policy = policy_read(tmp_path / "policy.yaml")
    assert [reviewer.name for reviewer in policy.reviewers] == ["copilot"]
    assert policy.merging.pending_checks_timeout == timedelta(hours=6)
    assert policy.convergence.scope_check == "always"


def test_a_key_of_the_data_folder_replaces_the_shipped_one_and_leaves_the_others(tmp_path):
    policy = policy_read(
        site(tmp_path, "convergence: {skipEmptyReview: false}\nmerging: {pendingChecksTimeout: 90m}\n")
    )
    assert policy.convergence.skip_empty_review is False
    assert policy.convergence.on_reviewer_unavailable == "proceed"
    assert policy.merging.pending_checks_timeout == timedelta(minutes=90)
    assert policy.merging.max_returns == 3


def test_a_repository_may_differ_and_is_found_whatever_its_case(tmp_path):
    text = "repositories:\n  acme/Docs:\n    reviewers: []\n    merging: {maxReturns: 0}\n"
    policy = policy_read(site(tmp_path, text))
    assert policy.reviewers_for("ACME/docs") == ()
    assert policy.merging_for("acme/docs").max_returns == 0
    assert policy.merging_for("acme/other").max_returns == 3


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("convergence: {scopeCheck: sometimes}", "convergence.scopeCheck"),
        ("convergence: {churnRounds: 101}", "convergence.churnRounds"),
        ("convergence: {advisories: some}", "convergence.advisories"),
        ("reviewers: [{name: x, adapter: oracle}]", "reviewers.0.adapter"),
        ("reviewers: [{name: x, adapter: person}]", "reviewers.0.login"),
        ("reviewers: [{name: x, adapter: copilot, logins: []}]", "reviewers.0.logins"),
        ("reviewers: [{name: ' ', adapter: copilot}]", "reviewers.0.name"),
        ("reviewers: [{name: x, adapter: bot, logins: []}]", "reviewers.0.logins"),
        ("reviewers: [{name: x, adapter: bot, logins: [x], request: {}}]", "reviewers.0.request"),
        (
            "reviewers: [{name: x, adapter: bot, logins: [x], request: {login: x, comment: y}}]",
            "login or comment",
        ),
        ("reviewers: [{name: x, adapter: team, team: leads}]", "reviewers.0.team"),
        ("reviewers: [{name: x, adapter: copilot}, {name: x, adapter: person, login: y}]", "'x' stands there twice"),
        ("repositories: {a/b: {reviewers: [{name: x, adapter: oracle}]}}", "repositories.a/b.reviewers.0.adapter"),
        ("forge: {maxBatch: 5}", "forge.maxBatch"),
        ("forge: {maxInFlight: 0}", "forge.maxInFlight"),
        ("forge: {reservePercent: 51}", "forge.reservePercent"),
        ("forge: {writesPerMinute: 81}", "forge.writesPerMinute"),
        ("forge: {writesPerHour: 501}", "forge.writesPerHour"),
        ("web: {waitSlots: many}", "web.waitSlots"),
        ("colour: blue", "colour"),
        ("repositories: {a/b: {merging: {maxReturns: 21}}}", "maxReturns"),
        ("merging: {pendingChecksTimeout: soon}", "merging.pendingChecksTimeout"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_path_and_the_next_step(tmp_path, text, path):
    with pytest.raises(Invalid) as caught:
        policy_read(site(tmp_path, text))
    assert path in caught.value.message
    assert "sync_definitions --check" in caught.value.message


@pytest.mark.parametrize("text", ["a: [", "just words", "- a list"])
def test_a_file_that_is_no_mapping_is_refused_by_name(tmp_path, text):
    with pytest.raises(Invalid, match=r"policy\.yaml"):
        policy_read(site(tmp_path, text))


def test_bounds_of_pools_have_their_defaults_and_a_pool_may_have_its_own(tmp_path):
    policy = policy_read(site(tmp_path, "workers: {max: 6}\npools: {lab: {main: {min: 0, max: 2}}}\n"))
    assert (policy.workers.min, policy.workers.max, policy.workers.cool_down_seconds) == (1, 6, 60)
    own = policy.bounds_for("lab", "main")
    assert own is not None
    assert (own.min, own.max) == (0, 2)
    assert policy.bounds_for("lab", "gpu") is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("workers: {min: 4}", "min 4 is more than max 3"),
        ("workers: {max: 65}", "workers.max"),
        ("workers: {max: 0}", "workers.max"),
        ("workers: {coolDownSeconds: -1}", "workers.coolDownSeconds"),
        ("pools: {lab: {main: {min: 1}}}", "pools.lab.main.max"),
    ],
)
def test_wrong_bounds_of_a_pool_are_named(tmp_path, text, path):
    with pytest.raises(Invalid) as caught:
        policy_read(site(tmp_path, text))
    assert path in caught.value.message
