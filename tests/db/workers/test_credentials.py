import json
import stat
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from runs.clock import now
from runs.contract.errors import Invalid, NotFound, Refused
from tests.db.workers.wire import worker_on
from workers.allowances import EVERYTHING, Allowances
from workers.models import Credential, CredentialToken
from workers.selectors import TokenState, token_state
from workers.services import credentials
from workers.services.credential_file import bootstrap_credential
from workers.services.credentials import credential_issue, credential_revoke, credential_rotate, token_hash

pytestmark = pytest.mark.django_db


def issue(node="lab", **lists):
    return credential_issue(node=node, allowed=Allowances(**lists), life=None, actor="operator:test")


def test_a_token_is_stored_as_its_hash_alone():
    issued = issue()
    row = CredentialToken.objects.get()
    assert row.token_hash == token_hash(issued.secret)
    assert issued.secret.startswith("fwk_" + row.prefix)
    assert issued.secret not in str(CredentialToken.objects.values().get())
    assert issued.secret not in repr(issued)


def test_a_new_node_may_not_change_repositories_unless_it_is_said():
    issue()
    node = Credential.objects.get()
    assert (node.labels, node.adapters, node.repositories) == ({}, ["*"], [])
    assert node.workspace_kinds == ["artifacts", "ephemeral", "repository"]
    assert not node.adapter_override


def test_issuing_a_known_node_widens_it_and_adds_a_token():
    issue(adapters=("claude",), labels={"can": ("build",)})
    issue(labels={"can": ("deploy",)}, workspace_kinds=("worktree",), repositories=("acme/shop",))
    node = Credential.objects.get()
    assert node.labels == {"can": ["build", "deploy"]}
    assert node.adapters == ["claude"]
    assert "worktree" in node.workspace_kinds
    assert "ephemeral" in node.workspace_kinds
    assert node.tokens.count() == 2


def test_a_third_valid_token_is_refused_by_name_of_the_oldest():
    first = issue()
    credential_rotate(node="lab", life=None, actor="operator:test")
    with pytest.raises(Refused, match=f"--token {first.row.prefix}"):
        credential_rotate(node="lab", life=None, actor="operator:test")


@pytest.mark.parametrize("node", ["", "Lab", "-lab", "lab.x", "l" * 64])
def test_a_wrong_name_of_a_node_is_refused(node):
    with pytest.raises(Invalid):
        issue(node)
    assert not Credential.objects.exists()


@pytest.mark.parametrize(
    "lists",
    [
        {"labels": {"node": ("lab",)}},
        {"labels": {"Can": ("x",)}},
        {"adapters": ("No Adapter",)},
        {"workspace_kinds": ("disk",)},
        {"repositories": ("acme",)},
    ],
)
def test_a_wrong_list_is_refused(lists):
    with pytest.raises(Invalid):
        issue(**lists)
    assert not Credential.objects.exists()


def test_the_old_token_ends_ten_minutes_after_the_new_one_was_used_and_never_before():
    """WP-S10 the old token lives until ten minutes after its successor's first accepted request."""
    old = issue().row
    new = credential_rotate(node="lab", life=None, actor="operator:test").row
    old.refresh_from_db()
    assert token_state(old, now() + timedelta(days=365)) is TokenState.VALID

    before = now()
    credentials.token_prove(new)
    after = now()
    old.refresh_from_db()
    ten = timedelta(minutes=10)
    assert token_state(old, before + ten - timedelta(seconds=1)) is TokenState.ENDING
    assert token_state(old, after + ten) is TokenState.REVOKED

    ends = old.revoked_at
    credentials.token_prove(CredentialToken.objects.get(pk=new.pk))
    old.refresh_from_db()
    assert old.revoked_at == ends


def test_using_the_old_token_ends_nothing():
    old = issue().row
    new = credential_rotate(node="lab", life=None, actor="operator:test").row
    credentials.token_prove(old)
    new.refresh_from_db()
    assert new.revoked_at is None


def test_revoking_one_token_leaves_the_other():
    first = issue()
    second = credential_rotate(node="lab", life=None, actor="operator:test")
    assert credential_revoke(node="lab", prefix=first.row.prefix, actor="operator:test") == 1
    assert token_state(CredentialToken.objects.get(pk=first.row.pk), now()) is TokenState.REVOKED
    assert token_state(CredentialToken.objects.get(pk=second.row.pk), now()) is TokenState.VALID
    with pytest.raises(NotFound):
        credential_revoke(node="lab", prefix=first.row.prefix, actor="operator:test")
    with pytest.raises(NotFound):
        credential_revoke(node="nowhere", prefix=None, actor="operator:test")


def test_the_first_start_leaves_one_file_that_only_its_owner_reads():
    path = bootstrap_credential()
    assert path == settings.FACTORY.home / "secrets" / "worker-local.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    content = json.loads(path.read_text())
    assert content["schemaVersion"] == "factory.worker-credential/v1"
    assert (content["node"], content["url"]) == ("local", settings.FACTORY.base_url)
    row = CredentialToken.objects.get(token_hash=token_hash(content["token"]))
    assert row.expires_at is None
    assert credentials.allowances_of(row.credential).repositories == list(EVERYTHING.repositories)

    before = path.read_text()
    bootstrap_credential()
    assert path.read_text() == before
    bootstrap_credential("http://127.0.0.1:9999")
    moved = json.loads(path.read_text())
    assert (moved["url"], moved["token"]) == ("http://127.0.0.1:9999", content["token"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert CredentialToken.objects.count() == 1


def run(*arguments):
    call_command("credentials", *arguments)


def test_the_command_writes_the_token_into_the_file_and_shows_it_nowhere(tmp_path, capsys):
    target = tmp_path / "deep" / "lab.json"
    arguments = ["--label", "can=build", "--label", "can=deploy", "--repository", "acme/*", "--allow-override"]
    run("issue", "lab", *arguments, "--output", str(target))
    secret = json.loads(target.read_text())["token"]
    run("list")
    run("list", "--json")
    shown = capsys.readouterr()
    assert secret not in shown.out + shown.err
    assert token_hash(secret) not in shown.out
    listed = json.loads(shown.out[shown.out.index("{") :])["credentials"]
    assert [(row["node"], row["labels"], row["repositories"]) for row in listed] == [
        ("lab", {"can": ["build", "deploy"]}, ["acme/*"])
    ]
    row = CredentialToken.objects.get()
    assert row.expires_at == row.created_at + timedelta(days=90)

    run("rotate", "lab", "--output", str(target), "--expires", "12h")
    assert json.loads(target.read_text())["token"] != secret
    run("revoke", "lab")
    assert "revoked 2 tokens of lab" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rotate", "nowhere"], "credentials list"),
        (["revoke", "nowhere"], "credentials list"),
        (["issue", "lab", "--expires", "soon"], "90d"),
        (["issue", "lab", "--label", "can"], "key=value"),
        (["issue", "lab", "--workspace-kind", "disk"], "worktree"),
        (["issue", "lab", "--url", "http://factory.example.org"], "insecure_url"),
        (["issue", "lab", "--url", "factory.example.org"], "https://HOST"),
    ],
)
def test_a_wrong_command_says_what_to_do_in_one_line(arguments, sentence):
    with pytest.raises(CommandError, match=sentence) as caught:
        run(*arguments)
    assert "\n" not in str(caught.value)
    assert not Credential.objects.exists()


def test_a_machine_without_nodes_says_so(capsys):
    run("list")
    assert "manage.py serve" in capsys.readouterr().out


def test_a_token_whose_file_cannot_be_written_is_worth_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="--output"):
        run("issue", "lab", "--output", str(tmp_path / "file" / "lab.json"))
    assert token_state(CredentialToken.objects.get(), now()) is TokenState.REVOKED


def test_last_use_is_kept_to_the_minute():
    worker = worker_on("lab")
    assert worker.hello().status_code == 200
    row = CredentialToken.objects.get()
    assert row.last_used_from == "127.0.0.1"
    assert row.last_used_at is not None
    assert (row.last_used_at.second, row.last_used_at.microsecond) == (0, 0)
