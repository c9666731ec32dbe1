"""Loading definitions: what files say becomes what is stored, all of it or nothing."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from runs.clock import now
from runs.contract.canonical import bytes_hash, document_hash
from runs.contract.errors import Invalid
from runs.definitions.stored import definition_document
from runs.definitions.sync import SHIPPED, definitions_sync
from runs.models import Definition, Document, Prompt, PromptVersion
from runs.queue.claim_answer import claim_answer
from runs.queue.enqueue import run_enqueue
from tests.queue_driver import claim, completed_body, enqueue, publish, refused_body, step_spec

AGENT = """
id: checker
version: 1
title: Checker
summary: Checks.
prompt: checker.md
input: any.json
output: any.json
outputContract: factory.checker/v1
"""


@pytest.fixture
def site(tmp_path):
    """A folder of an operator, with one definition of each part."""
    for name in ("agents", "prompts", "schemas"):
        (tmp_path / name).mkdir()
    (tmp_path / "agents" / "checker.yaml").write_text(AGENT)
    (tmp_path / "prompts" / "checker.md").write_text("Write to AGENT_RESULT_FILE.")
    (tmp_path / "schemas" / "any.json").write_text('{"type": "object"}')
    return tmp_path


def sync(site, **fields):
    return definitions_sync(actor="operator:ann@cli", folders=[("shipped", SHIPPED), ("site", site)], **fields).lines


def test_a_definition_is_stored_by_content_with_its_references(site):
    assert sync(site) == ["add checker@1", "add prompt checker.md"]
    row = Definition.objects.get(ref="checker@1", is_current=True)
    document = definition_document(row.def_hash)
    assert document_hash(document) == row.def_hash
    assert document["prompt"] == {"name": "checker.md", "hash": bytes_hash(b"Write to AGENT_RESULT_FILE.")}
    assert Document.objects.filter(hash=document["input"], kind="schema").exists()
    assert (row.layer, document["resultPolicy"], document["limits"]["maxAttempts"]) == ("site", "strict", 1)
    assert sync(site) == []


def test_the_shipped_review_agent_has_the_values_of_its_contract():
    document = definition_document(Definition.objects.get(agent_id="pr-review", is_current=True).def_hash)
    assert (document["adapter"], document["promptBinding"], document["resultPolicy"]) == ("any", "latest", "lenient")
    assert (document["mutating"], document["weightClass"], document["workspace"]["kind"]) == (True, "heavy", "worktree")
    assert document["limits"]["timeoutSeconds"] == 5400
    assert (document["limits"]["maxAttempts"], document["limits"]["maxEnvironmentRetries"]) == (1, 0)


def test_an_edit_keeps_the_ref_and_retires_the_old_content(site):
    sync(site)
    old = Definition.objects.get(ref="checker@1", is_current=True)
    (site / "prompts" / "checker.md").write_text("Answer in AGENT_RESULT_FILE.")
    assert sync(site, check=True) == ["change checker@1", "change prompt checker.md"]
    assert Definition.objects.get(ref="checker@1", is_current=True) == old
    sync(site)
    new = Definition.objects.get(ref="checker@1", is_current=True)
    assert new.def_hash != old.def_hash
    assert not Definition.objects.get(pk=old.pk).is_current


def test_a_definition_that_no_file_declares_retires_and_comes_back(site):
    sync(site)
    assert definitions_sync(actor="operator:ann@cli").lines == ["retire checker@1"]
    assert not Definition.objects.filter(ref="checker@1", is_current=True).exists()
    sync(site)
    assert Definition.objects.filter(ref="checker@1", is_current=True).count() == 1


def test_queued_runs_execute_though_their_definition_is_no_longer_current():
    """RU-H10, RU-S16"""
    spec = step_spec()
    runs = [enqueue() for _ in range(20)]
    Definition.objects.update(is_current=False)
    with pytest.raises(Invalid) as unknown:
        run_enqueue(spec=spec, actor="flow:x")
    assert unknown.value.code == "unknown_definition"
    for run in runs:
        attempt = claim()
        assert attempt.run == run
        assert document_hash(claim_answer(attempt)["definition"]) == attempt.def_hash
        publish(attempt, completed_body(attempt))
        run.refresh_from_db()
        assert (run.state, run.spec_hash) == ("completed", attempt.run.spec_hash)


def test_a_latest_prompt_that_is_edited_reaches_the_next_claim_and_a_pinned_one_does_not():
    """RU-S15"""
    run = enqueue()
    text = b"Edited. Answer in AGENT_RESULT_FILE."
    Document.objects.create(hash=bytes_hash(text), kind="prompt", content=text, size_bytes=len(text), created_at=now())
    shipped = Prompt.objects.get(name="pr-review.md").current_hash
    Prompt.objects.filter(name="pr-review.md").update(current_hash=bytes_hash(text))
    attempt = claim()
    assert attempt.run == run
    assert attempt.prompt_hash == bytes_hash(text)
    assert claim_answer(attempt)["prompt"]["text"] == text.decode()
    publish(attempt, refused_body(attempt))
    enqueue(promptBinding="pinned", promptHash=shipped)
    assert claim().prompt_hash == shipped


def test_an_edit_on_the_console_outlives_a_sync_until_the_file_itself_changes(site):
    sync(site)
    Prompt.objects.filter(name="checker.md").update(current_hash="sha256:" + "c" * 64)
    sync(site)
    assert Prompt.objects.get(name="checker.md").current_hash == "sha256:" + "c" * 64
    (site / "prompts" / "checker.md").write_text("Third. AGENT_RESULT_FILE")
    sync(site)
    assert Prompt.objects.get(name="checker.md").current_hash == bytes_hash(b"Third. AGENT_RESULT_FILE")
    assert PromptVersion.objects.filter(prompt="checker.md").count() == 2


FAULTS = [
    ("agents/checker.yaml", AGENT + "colour: red\n", "definition_invalid"),
    ("agents/checker.yaml", AGENT.replace("version: 1", "version: one"), "definition_invalid"),
    ("agents/checker.yaml", AGENT + "mutating: true\n", "definition_invalid"),
    ("agents/checker.yaml", AGENT + "weightClass: featherlight\n", "definition_invalid"),
    ("agents/checker.yaml", AGENT + "limits: {timeoutSeconds: 60, verifySeconds: 60}\n", "definition_invalid"),
    ("agents/checker.yaml", AGENT + "workspace: {kind: repository}\n", "definition_invalid"),
    ("agents/checker.yaml", AGENT + "verify: [{name: tests, argv: []}]\n", "definition_invalid"),
    ("agents/checker.yaml", "- a list", "definition_invalid"),
    ("agents/checker.yaml", "{", "definition_invalid"),
    ("agents/checker.yaml", AGENT.replace("checker.md", "absent.md"), "document_missing"),
    ("agents/checker.yaml", AGENT.replace("any.json", "absent.json"), "document_missing"),
    ("agents/second.yaml", AGENT, "version_reused"),
    ("prompts/checker.md", " \n", "prompt_blank"),
    ("prompts/checker.md", "AGENT_RESULT_FILE" + "x" * 65536, "prompt_too_large"),
    ("prompts/checker.md", "Say nothing.", "definition_invalid"),
    ("schemas/any.json", '{"type": "objekt"}', "schema_invalid"),
    ("schemas/any.json", '{"typ": "object"}', "schema_invalid"),
    ("schemas/any.json", '{"properties": {"a": {"$ref": "other.json"}}}', "schema_invalid"),
    ("schemas/any.json", '{"type": "object", "type": "object"}', "schema_invalid"),
]


@pytest.mark.parametrize(("name", "content", "code"), FAULTS)
def test_a_fault_is_named_by_file_and_code_and_the_current_set_stays(site, name, content, code):
    sync(site)
    before = list(Definition.objects.order_by("pk").values_list("def_hash", "is_current"))
    (site / name).write_text(content)
    with pytest.raises(Invalid) as invalid:
        sync(site)
    assert any(f": {code}: " in fault for fault in invalid.value.details["faults"])
    assert list(Definition.objects.order_by("pk").values_list("def_hash", "is_current")) == before


def test_all_faults_are_reported_together(site):
    (site / "prompts" / "checker.md").write_text(" ")
    (site / "schemas" / "any.json").write_text("{")
    with pytest.raises(Invalid) as invalid:
        sync(site)
    codes = {fault.split(": ")[2] for fault in invalid.value.details["faults"]}
    assert codes >= {"prompt_blank", "schema_invalid", "document_missing"}


def test_the_command_checks_without_writing(settings):
    out = StringIO()
    call_command("sync_definitions", "--check", stdout=out)
    assert out.getvalue() == ""
    Definition.objects.all().update(is_current=False)
    with pytest.raises(SystemExit) as ended:
        call_command("sync_definitions", "--check", stdout=out)
    assert ended.value.code == 1
    assert "add pr-review@1" in out.getvalue()
    broken = settings.FACTORY.home / "registry" / "prompts"
    broken.mkdir(parents=True, exist_ok=True)
    try:
        (broken / "blank.md").write_text("")
        with pytest.raises(CommandError, match="prompt_blank"):
            call_command("sync_definitions", stdout=out)
    finally:
        (broken / "blank.md").unlink()
        broken.rmdir()
        broken.parent.rmdir()
