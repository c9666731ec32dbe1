"""The result channels and the form checks of a result."""

import json

import pytest

from runs.contract import results
from runs.contract.codes import TerminalState
from runs.contract.results import ContractViolation

FULL = {"schemaVersion": results.AGENT_RESULT, "terminalState": "completed", "artifact": {"a": 1}}
DECISION = {
    "schemaVersion": "factory.decision-request/v1",
    "question": "Which?",
    "options": [{"id": "a", "label": "A", "effect": "rerun_with_answer"}],
}


def given(document, **extra):
    return json.dumps({**document, **extra}).encode()


def test_the_file_wins_over_the_line_and_the_line_over_the_block():
    text = 'talk\n```json\n{"c": 3}\n```\n'
    line = '::factory:result:: {"b": 2}'
    assert results.result_text(b'{"a": 1}', text) == b'{"a": 1}'
    assert results.result_text(None, f"{text}{line}\n\n  \n") == b'{"b": 2}'
    assert results.result_text(None, text) == b'{"c": 3}'
    assert results.result_text(None, '::nano:result:: {"n": 1}') == b'{"n": 1}'


@pytest.mark.parametrize(
    "text",
    ["", "done", '::factory:result:: {"a": 1}\nand more', '```json\n{"a": 1}\n```\nthe end', "```\nno json\n```"],
)
def test_text_that_does_not_end_with_a_result_gives_none(text):
    assert results.result_text(None, text) is None


def test_a_flat_object_is_the_artifact_of_a_completed_result():
    read = results.read_result(b'{"verdict": "FLAKE", "nonce": "n1"}', nonce="n1")
    assert (read.terminal_state, read.artifact) == (TerminalState.COMPLETED, {"verdict": "FLAKE"})


@pytest.mark.parametrize(
    ("content", "check"),
    [
        (None, "missing_result"),
        (b"[1]", "invalid_json"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "invalid_json"),
        (b"{", "invalid_json"),
        (b'{"a":1,"a":2}', "invalid_json"),
        (b" " * (results.LARGEST_RESULT + 1), "result_too_large"),
        (given(FULL, terminalState="failed"), "result_schema"),
        (given(FULL, artifacts=[{"kind": "file"}]), "result_schema"),
        (given(FULL, terminalState="refused", reasonCode="no_mood"), "unknown_refusal_reason"),
        (given(FULL, nonce="other"), "missing_result"),
    ],
)
def test_the_first_failed_form_check_names_itself(content, check):
    with pytest.raises(ContractViolation) as violation:
        results.read_result(content, nonce="mine")
    assert violation.value.details["check"] == check


def test_a_refusal_keeps_a_sound_decision_and_drops_a_malformed_one():
    kept = results.read_result(given(FULL, terminalState="refused", reasonCode="needs_human", decision=DECISION))
    assert kept.decision == DECISION
    dropped = results.read_result(given(FULL, terminalState="refused", reasonCode="needs_human", decision={"q": 1}))
    assert (dropped.decision, dropped.notes) == (None, ("decision_dropped",))


@pytest.mark.parametrize(
    ("document", "check"),
    [
        ({**FULL, "artifact": None}, "missing_artifact"),
        ({**FULL, "decision": DECISION}, "missing_artifact"),
        ({**FULL, "artifact": {"a": "x"}}, "output_schema"),
    ],
)
def test_completed_results_need_a_fitting_artifact(document, check):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    with pytest.raises(ContractViolation) as violation:
        results.check_artifact(results.read_result(given(document)), schema)
    assert violation.value.check == check
    if check == "output_schema":
        assert violation.value.details["path"] == "$.a"


def test_what_an_agent_writes_under_the_reserved_key_is_dropped():
    assert results.merge_evidence({"workspace": "mine", "a": 1}, {"pushed": False}) == {
        "a": 1,
        "workspace": {"pushed": False},
    }
    assert results.merge_evidence({"workspace": "mine"}, None) is None


def test_evidence_is_bounded():
    with pytest.raises(ContractViolation) as violation:
        results.check_evidence({"a": "x" * 300_000})
    assert violation.value.check == "evidence_too_large"
