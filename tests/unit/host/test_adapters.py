"""The adapter contract: what is registered, what is handed out, and what reported numbers may do."""

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import workers.host.adapters
from workers.host.adapters import command, fake
from workers.host.adapters.contract import AdapterContractError, AdapterRegistrationError, Outcome, RunRefused, Usage
from workers.host.adapters.registry import AdapterRegistry, any_adapter

SOUND = SimpleNamespace(SANDBOX_SUPPORT="unsupported", execute=lambda _request: Outcome(exit_code=0))


@pytest.mark.parametrize(
    ("name", "module", "missing"),
    [
        ("x", object(), "execute"),
        ("x", SimpleNamespace(execute=print), "SANDBOX_SUPPORT"),
        ("x", SimpleNamespace(execute=print, SANDBOX_SUPPORT=()), "SANDBOX_SUPPORT"),
        ("x", SimpleNamespace(execute=print, SANDBOX_SUPPORT=("docker",)), "SANDBOX_SUPPORT"),
        ("x", None, "module"),
        ("any", SOUND, "name"),
        ("Not a name", SOUND, "name"),
    ],
)
def test_an_adapter_that_lacks_a_part_is_refused_by_that_part(name, module, missing):
    """AD-S1"""
    with pytest.raises(AdapterContractError) as refusal:
        AdapterRegistry().register(name, module, source="theirs 1.0")
    assert (refusal.value.code, refusal.value.details["missing"]) == ("adapter_contract_invalid", missing)


def test_a_name_is_taken_once_and_a_source_is_named():
    """AD-S1"""
    registry = AdapterRegistry()
    with pytest.raises(AdapterRegistrationError) as doubled:
        registry.register("fake", SOUND, source="theirs 1.0")
    with pytest.raises(AdapterRegistrationError) as nameless:
        registry.register("mine", SOUND, source="")
    assert (doubled.value.code, nameless.value.code) == ("adapter_duplicate", "adapter_source_missing")
    registry.register("fake", SOUND, source="theirs 1.0", replace=True)
    assert registry.get("fake").source == "theirs 1.0"


def test_only_a_frozen_wrapper_leaves_the_registry():
    """AD-H2"""
    registry = AdapterRegistry()
    guarded = registry.get("command")
    assert type(guarded).__name__ == "GuardedAdapter"
    with pytest.raises(AttributeError):
        guarded.name = "other"
    with pytest.raises(TypeError):
        registry.to_map()["command"] = guarded  # type: ignore[index]
    assert registry.list() == ["command", "fake"]


def test_no_adapter_starts_a_process_or_opens_a_connection_itself():
    """AD-H2"""
    folder = Path(workers.host.adapters.__file__).parent
    adapters = [path for path in folder.glob("*.py") if path.name != "fake_agent.py"]
    assert len(adapters) > 3
    for path in adapters:
        tree = ast.parse(path.read_text())
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        assert not imported & {"subprocess", "socket", "requests", "os"}, path


def test_fake_serves_what_is_left_to_the_worker_only_when_it_was_named():
    assert any_adapter((), has_command=False) is None
    assert any_adapter(("fake", "command"), has_command=False) == fake.NAME
    assert any_adapter(("fake",), has_command=True) == command.NAME


def test_totals_only_grow_and_stay_unknown_where_nothing_was_said():
    """AD-H26"""
    first = Usage(input_tokens=10, cost_usd=0.5)
    grown = first.grown(Usage(input_tokens=7, output_tokens=3, cost_usd=0.6))
    assert grown == Usage(input_tokens=10, output_tokens=3, cost_usd=0.6)
    assert (grown.cache_read_tokens, grown.turns) == (None, None)
    for line in ('{"inputTokens": -1}', '{"costUsd": NaN}', '{"costUsd": 1e999}', "[]", "{", '{"inputTokens": "many"}'):
        assert command.read_usage(line) is None
    for number in ("1e999", "1" + 400 * "0", "1" + 25 * "0"):
        assert command.read_usage(f'{{"inputTokens": {number}}}') is None
        assert command.read_usage(f'{{"costUsd": {number}}}') is None
    assert command.read_usage('{"inputTokens": 4, "costUsd": 0.25}') == Usage(input_tokens=4, cost_usd=0.25)


def test_placeholders_stand_for_whole_arguments_and_take_no_option():
    assert command.resolve(["gh", "rerun", "{runId}", "--x={runId}"], {"runId": 7}) == (
        "gh",
        "rerun",
        "7",
        "--x={runId}",
    )
    cases: list[tuple[list[str], dict[str, Any]]] = [
        (["{program}"], {"program": "sh"}),
        (["gh", "{runId}"], {}),
        (["gh", "{runId}"], {"runId": "--force"}),
        (["gh", "{runId}"], {"runId": True}),
        (["gh", "{runId}"], {"runId": ["a"]}),
    ]
    for template, variables in cases:
        with pytest.raises(RunRefused) as refusal:
            command.resolve(template, variables)
        assert refusal.value.code == "command_unresolved"
