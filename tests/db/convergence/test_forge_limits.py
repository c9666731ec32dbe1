"""What GitHub limits is obeyed by web, poller and effects alike, and people are served to the end."""

from datetime import timedelta
from time import monotonic

import pytest

from convergence.forge.facts import Profile
from convergence.forge.governor.account import CORE, GRAPHQL, WRITES
from convergence.forge.governor.governor import Ask
from convergence.forge.governor.purposes import Purpose
from convergence.forge.reading import read_pull
from convergence.forge_access import forge_client, pull_ref
from convergence.models import ConvergenceFlow, ForgeBudget
from convergence.selectors.forge import forge_document
from factory_site.doctor.report import findings
from runs.clock import now
from runs.contract.errors import FactoryError, Transient
from runs.flows.looks import flows_pass
from runs.flows.move import EFFECT_TOPIC
from runs.models import Outbox
from runs.models.user import Role
from runs.outbox.dispatch import outbox_pass
from runs.outbox.write import outbox_add
from tests.db.convergence.stage import waiting
from tests.factories import UserFactory


def requests(stage):
    return len(stage.sim.log.entries)


def due_now():
    ConvergenceFlow.objects.filter(due_at__isnull=False).update(due_at=now())


def both_pass(stage, **span):
    """Time passes for the product and for GitHub."""
    stage.passes(**span)
    stage.sim.clock.advance(timedelta(**span).total_seconds())


def test_retry_after_stops_web_poller_and_effects_and_then_one_request_goes_first(stage):
    """GH-S5, GH-H2: the simulated GitHub fails this test if a single request comes while it is blocked."""
    waiting(stage)
    other = stage.pull_on_forge(branch="feat/other")
    stage.look()
    assert Outbox.objects.filter(done_at__isnull=True).exists(), "a request for a review wants to leave"
    stage.sim.faults.secondary_limit(seconds=90)
    due_now()
    flows_pass()
    blocked = requests(stage)
    for _ in range(8):
        due_now()
        flows_pass()
        Outbox.objects.filter(done_at__isnull=True).update(available_at=now(), claimed_until=None)
        outbox_pass()
        with pytest.raises(Transient) as refused:
            stage.submit(other)
        assert refused.value.code == "forge_unavailable"
        both_pass(stage, seconds=10)
    assert requests(stage) == blocked
    assert stage.flow.last_look_error.startswith("forge_limited")
    assert (stage.flow.due_at - now()).total_seconds() > 0
    both_pass(stage, seconds=20)
    client = forge_client(Purpose.PERSON)
    with client.governor.admitted(Ask(client.credential_id(), CORE, Purpose.PERSON)):
        with pytest.raises(Transient):
            client.rest("GET", "user")  # while the first request is on its way the others wait
        assert requests(stage) == blocked
    assert client.rest("GET", "user").body["login"] == "factory-bot"
    stage.settle()
    assert stage.sim.log.count("request_review") == 1


def test_at_fifteen_percent_polls_are_rare_and_people_and_merges_pass(stage):
    """GH-S6: until the reset, which lifts it by itself."""
    waiting(stage)
    other = stage.pull_on_forge(branch="feat/other")
    stage.sim.faults.rate_limit(GRAPHQL, remaining=750)
    stage.look()
    stage.look()
    document = forge_document()
    assert document is not None
    assert document["level"] == "reserve"
    pause = (stage.flow.due_at - now()).total_seconds()
    assert 8 * 60 * 0.9 - 2 <= pause <= 8 * 60 * 1.1
    assert not stage.submit(other).already_running
    merging = forge_client(Purpose.MERGE)
    assert read_pull(merging, Profile.MERGE, pull_ref(stage.pull)).is_draft is False
    with pytest.raises(Transient) as refused:
        read_pull(forge_client(Purpose.ROUND), Profile.BACKLOG, pull_ref(stage.pull))
    assert refused.value.details["level"] == "reserve"
    both_pass(stage, minutes=61)
    stage.look()
    stage.look()
    document = forge_document()
    assert document is not None
    assert document["level"] == "normal"


def test_an_hour_without_queries_costs_one_request_a_minute_and_pages_say_since_when(stage):
    """GH-S4: the poller asks once for all, and nothing falls back to single requests."""
    waiting(stage)
    stage.effects()
    begun, at = stage.sim.log.count("graphql:Pulls"), now()
    rest = requests(stage) - begun
    stage.sim.faults.fail_next("graphql:Pulls", 502, times=-1)
    for _ in range(120):
        due_now()
        flows_pass()
        both_pass(stage, seconds=30)
    asked = stage.sim.log.count("graphql:Pulls") - begun
    assert asked <= 66
    assert requests(stage) - asked - begun - rest == 0, "and nothing else was asked instead"
    document = forge_document()
    assert document is not None
    assert at - timedelta(hours=1, seconds=30) <= document["failingSince"] <= at - timedelta(minutes=59)
    stage.sim.faults.cease("fail_next")
    stage.look()
    document = forge_document()
    assert document is not None
    assert document["failingSince"] is None


def test_two_hundred_answers_leave_a_second_apart_in_order_and_once(stage):
    """GH-S8: at most sixty a minute, those of one pull request in their order."""
    pulls = [stage.pull_on_forge(branch=f"feat/{number}") for number in range(4)]
    threads = {}
    for pull in pulls:
        stage.submit(pull)
        stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "One."}])
        threads[pull.number] = pull.threads[0]
    for number in range(200):
        row = ConvergenceFlow.rows().select_related("pull").order_by("id")[number % 4]
        thread = threads[row.pull.number]
        outbox_add(
            topic=EFFECT_TOPIC,
            key=f"answer:{number}",
            stream=row.subject,
            payload={"flow": "convergence", "row": row.pk, "generation": row.generation, "log": row.entry_log,
                     "effect": "reply", "arguments": {"thread_id": thread.node_id, "body": f"Answer {number:03}"}},
        )  # fmt: skip
    at, begun = [0.0], monotonic()
    for second in range(400):
        if not Outbox.objects.filter(done_at__isnull=True).exists():
            break
        before = stage.sim.log.count("reply")
        outbox_pass(200)
        at += [second + monotonic() - begun] * (stage.sim.log.count("reply") - before)  # as late as each may have left
        stage.passes(seconds=1)
        ledger = ForgeBudget.objects.get(resource=WRITES)
        ForgeBudget.objects.filter(pk=ledger.pk).update(
            stamps=[stamp - 1 for stamp in ledger.stamps], booked_until=ledger.booked_until - 1
        )
    assert stage.sim.log.count("reply") == 200
    assert all(sum(begin < each < begin + 60 for each in at[1:]) <= 60 for begin in at)
    for pull in pulls:
        texts = [comment.body[:10] for comment in threads[pull.number].comments[1:]]
        assert texts == sorted(texts)
        assert len(set(texts)) == 50
        for text in texts:
            stage.sim.verbs.expect_reply(threads[pull.number], text)
    assert {row.tries for row in Outbox.objects.filter(topic=EFFECT_TOPIC)} == {1}


def test_a_token_that_ends_is_resolved_once_more_and_then_probed_each_five_minutes(stage, client):
    """GH-S19: console and doctor say so, and a good answer lifts it without a restart."""
    waiting(stage)
    stage.effects()
    stage.sim.faults.unauthorised(times=1)
    stage.look()
    begun = requests(stage)
    stage.sim.faults.unauthorised(times=-1)
    for _ in range(120):
        due_now()
        flows_pass()
        both_pass(stage, seconds=5)
    assert requests(stage) - begun == 4, "two probes, each with the token resolved once more"
    [found] = [each for each in findings() if each.code == "forge_unauthorised"]
    assert "Bad credentials" in found.text
    assert "GITHUB_TOKEN" in found.text
    assert "gh auth login" in found.mend
    stage.look()
    client.force_login(UserFactory.create(role=Role.VIEWER))
    page = client.get("/").content.decode()
    assert "GitHub takes no requests of ours until" in page
    with pytest.raises(FactoryError) as refused:
        forge_client().rest("GET", "user")
    assert refused.value.code == "forge_unauthorised"
    stage.sim.faults.cease("unauthorised")
    both_pass(stage, minutes=5)
    stage.look()
    assert stage.flow.last_look_error == ""
    assert not [each for each in findings() if each.code == "forge_unauthorised"]
