"""The keys of limits and budgets: defaults, bounds, and what takes a limit away."""

import pytest

from runs.contract.errors import Invalid
from runs.policy import policy_read


def read(tmp_path, text=""):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    return policy_read(path)


def test_the_shipped_file_limits_money_and_nothing_else(tmp_path):
    policy = read(tmp_path)
    assert (policy.budgets.per_day.usd, policy.budgets.per_subject.usd) == (200, 50)
    assert (policy.budgets.per_run, policy.budgets.warn_at_percent, policy.limits.max_run_minutes) == (None, 80, 180)
    assert set(policy.weight_classes) == {"light", "standard", "heavy"}
    assert not policy.caps_attempts


def test_a_key_replaces_the_shipped_value_as_a_whole_and_null_takes_the_limit_away(tmp_path):
    policy = read(
        tmp_path,
        "weightClasses: {gpu: {max: 1}, heavy: {perNode: 2}, light: null}\n"
        "budgets: {perDay: {tokens: 5000}, perSubject: null}\n"
        "limits: {perRepository: null, perAgent: {pr-review: 3, other: null}}\n",
    )
    assert policy.weight_classes["heavy"].per_node == 2
    assert set(policy.weight_classes) == {"light", "standard", "heavy", "gpu"}
    assert (policy.budgets.per_day.usd, policy.budgets.per_day.tokens) == (None, 5000)
    assert policy.budgets.per_subject is None
    assert policy.limits.per_agent == {"pr-review": 3, "other": None}
    assert policy.caps_attempts


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("weightClasses: {heavy: {max: -1}}", "weightClasses.heavy.max"),
        ("weightClasses: {heavy: {perNode: two}}", "weightClasses.heavy.perNode"),
        ("weightClasses: {heavy: {most: 1}}", "weightClasses.heavy.most"),
        ("limits: {perRepository: {shop: 1}}", "limits.perRepository"),
        ("limits: {perRepository: {acme/shop: 10001}}", "limits.perRepository.acme/shop"),
        ("limits: {perAgent: {PR Review: 1}}", "limits.perAgent"),
        ("limits: {maxRunMinutes: 0}", "limits.maxRunMinutes"),
        ("limits: {maxRunMinutes: 1441}", "limits.maxRunMinutes"),
        ("budgets: {perDay: {usd: -1}}", "budgets.perDay.usd"),
        ("budgets: {perDay: {usd: .inf}}", "budgets.perDay.usd"),
        ("budgets: {perSubject: {eur: 5}}", "budgets.perSubject.eur"),
        ("budgets: {perRun: {tokens: 1.5}}", "budgets.perRun.tokens"),
        ("budgets: {warnAtPercent: 0}", "budgets.warnAtPercent"),
        ("budgets: {warnAtPercent: 101}", "budgets.warnAtPercent"),
    ],
)
def test_a_value_out_of_bounds_is_named_with_its_path(tmp_path, text, path):
    with pytest.raises(Invalid) as caught:
        read(tmp_path, text)
    assert path in caught.value.message
    assert "sync_definitions --check" in caught.value.message


def test_a_repository_goes_by_its_own_cap_whatever_its_case_else_by_the_default(tmp_path):
    limits = read(tmp_path, "limits: {perRepository: {default: 2, Acme/Shop: 5, acme/free: null}}").limits
    assert [limits.of_repository(name) for name in ("acme/shop", "acme/web", "ACME/FREE")] == [5, 2, None]
