import pytest

from runs.contract.errors import Refused
from workers.allowances import (
    EVERYTHING,
    Allowances,
    label_allowed,
    offer_check,
    repository_allowed,
    widened,
    with_defaults,
)

OFFER = {
    "labels": {"arch": "arm64", "os": "linux", "isolation": "none", "sandbox-gondolin": "no"},
    "adapters": ["command"],
    "anyAdapter": "command",
    "adapterOverride": None,
    "workspaceKinds": ["ephemeral"],
    "repositories": [],
}


def test_what_a_worker_finds_on_its_machine_is_always_allowed():
    offer_check(node="lab", allowed=with_defaults(Allowances()), offer=OFFER)


def test_a_refusal_names_the_command_that_widens_the_credential():
    with pytest.raises(Refused) as refused:
        offer_check(node="lab", allowed=with_defaults(Allowances()), offer={**OFFER, "workspaceKinds": ["worktree"]})
    command = "manage.py credentials issue lab --workspace-kind worktree"
    assert refused.value.details == {"workspaceKind": "worktree", "command": command}
    assert command in refused.value.message


def test_a_refused_repository_is_told_with_those_that_are_allowed():
    allowed = with_defaults(Allowances(repositories=["acme/shop", "acme/docs"]))
    with pytest.raises(Refused) as refused:
        offer_check(node="lab", allowed=allowed, offer={**OFFER, "repositories": ["*"]})
    assert refused.value.details["repository"] == "*"
    assert refused.value.details["allowed"] == ["acme/docs", "acme/shop"]


def test_everything_allows_everything_but_the_label_of_the_node():
    offer = {
        **OFFER,
        "labels": {"can": "deploy", "gpu": "yes"},
        "adapters": ["command", "pi"],
        "adapterOverride": "pi",
        "workspaceKinds": ["worktree", "repository"],
        "repositories": ["*"],
    }
    offer_check(node="local", allowed=EVERYTHING, offer=offer)
    assert not label_allowed(EVERYTHING, "node", "local")


@pytest.mark.parametrize(
    ("listed", "offered", "allowed"),
    [
        (["acme/shop"], "acme/shop", True),
        (["acme/shop"], "ACME/Shop", True),
        (["acme/shop"], "acme/docs", False),
        (["acme/shop"], "acme/*", False),
        (["acme/shop"], "*", False),
        (["acme/*"], "acme/shop", True),
        (["acme/*"], "acme/*", True),
        (["acme/*"], "acmes/shop", False),
        (["*"], "acme/shop", True),
        (["*"], "*", True),
        ([], "acme/shop", False),
    ],
)
def test_a_repository_is_allowed_by_name_by_owner_or_at_large(listed, offered, allowed):
    assert repository_allowed(Allowances(repositories=listed), offered) is allowed


@pytest.mark.parametrize(
    ("labels", "value", "allowed"),
    [
        ({"can": ["build"]}, "build", True),
        ({"can": ["build"]}, "deploy", False),
        ({"can": ["*"]}, "deploy", True),
        ({"*": ["*"]}, "deploy", True),
        ({"can": ["build"], "*": ["*"]}, "deploy", False),
        ({}, "build", False),
    ],
)
def test_a_label_is_allowed_by_key_and_value(labels, value, allowed):
    assert label_allowed(Allowances(labels=labels), "can", value) is allowed


def test_widening_takes_nothing_away():
    held = Allowances(labels={"can": ["build"]}, adapters=["claude"], repositories=["acme/shop"], adapter_override=True)
    both = widened(held, Allowances(labels={"can": ["deploy"], "gpu": ["yes"]}, adapters=["*"]))
    assert both.labels == {"can": ["build", "deploy"], "gpu": ["yes"]}
    assert both.adapters == ["*"]
    assert both.repositories == ["acme/shop"]
    assert both.adapter_override
