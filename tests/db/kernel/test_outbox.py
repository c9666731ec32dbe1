"""The outbox: in order within a stream, at least once, dead only for a reason, and harmless for two dispatchers."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.errors import Permanent, Transient
from runs.models import Outbox
from runs.outbox import dispatch
from runs.outbox.write import outbox_add

pytestmark = pytest.mark.django_db
TOPIC = "test.topic"


@pytest.fixture
def seen(monkeypatch):
    """Deliveries that a consumer got, and what it does with each."""
    monkeypatch.setattr(dispatch, "_consumers", {})
    deliveries = []
    answers: dict[str, object] = {}

    def consume(delivery):
        deliveries.append(delivery)
        answer = answers.get(delivery.key, {"ok": True})
        if isinstance(answer, Exception):
            raise answer
        return answer

    dispatch.register_consumer(TOPIC, consume)
    return (deliveries, answers)


def add(key: str, stream: str = "s") -> Outbox:
    return outbox_add(topic=TOPIC, key=key, stream=stream, payload={"key": key})


def due_now() -> None:
    Outbox.objects.filter(done_at=None).update(available_at=now() - timedelta(seconds=1))


def test_the_same_key_is_added_once():
    """RU-H9: the same outbox key never yields two effects."""
    first, second = add("k"), add("k")
    assert first.pk == second.pk
    assert Outbox.objects.count() == 1


@pytest.mark.usefixtures("seen")
def test_what_the_consumer_observed_is_kept():
    add("k")
    assert dispatch.outbox_pass() == 1
    row = Outbox.objects.get()
    assert row.done_at is not None
    assert row.observed == {"ok": True}
    assert dispatch.outbox_pass() == 0


def test_a_transient_failure_is_tried_again_later_and_holds_back_its_stream_alone(seen):
    deliveries, answers = seen
    answers["a1"] = Transient("busy", "later", retry_after=30)
    add("a1", "a"), add("a2", "a"), add("b1", "b")
    dispatch.outbox_pass()
    assert [each.key for each in deliveries] == ["a1", "b1"]
    row = Outbox.objects.get(key="a1")
    assert row.available_at > now() + timedelta(seconds=20)
    assert "later" in row.last_error
    answers.clear()
    due_now()
    dispatch.outbox_pass()
    assert [(each.key, each.repeated) for each in deliveries[2:]] == [("a1", True), ("a2", False)]


def test_a_permanent_failure_is_dead_at_once_and_does_not_block_its_stream(seen):
    deliveries, answers = seen
    answers["a1"] = Permanent("forge_forbidden", "not here")
    add("a1", "a"), add("a2", "a")
    dispatch.outbox_pass()
    assert [each.key for each in deliveries] == ["a1", "a2"]
    assert Outbox.objects.get(key="a1").dead_at is not None
    assert Outbox.objects.get(key="a2").done_at is not None


def test_after_twelve_tries_a_row_is_dead_with_its_last_error(seen):
    _, answers = seen
    answers["a1"] = RuntimeError("boom")
    add("a1")
    for _ in range(dispatch.MOST_TRIES):
        due_now()
        dispatch.outbox_pass()
    row = Outbox.objects.get()
    assert row.tries == dispatch.MOST_TRIES
    assert row.dead_at is not None
    assert "boom" in row.last_error


def test_a_claimed_row_is_left_alone_until_its_claim_ends(seen):
    """RU-H16: a second dispatcher changes nothing compared with one."""
    deliveries, _ = seen
    row = add("k")
    Outbox.objects.filter(pk=row.pk).update(claimed_until=now() + timedelta(seconds=60), tries=1)
    assert dispatch.outbox_pass() == 0
    Outbox.objects.filter(pk=row.pk).update(claimed_until=now() - timedelta(seconds=1))
    assert dispatch.outbox_pass() == 1
    assert deliveries[0].repeated


@pytest.mark.usefixtures("seen")
def test_a_topic_without_consumer_waits():
    outbox_add(topic="nobody", key="k", stream="s", payload={})
    assert dispatch.outbox_pass() == 0
    assert Outbox.objects.get().tries == 0


@pytest.mark.parametrize("error", [Transient("busy", "later", retry_after=1), Permanent("forge_forbidden", "not here")])
@pytest.mark.usefixtures("seen")
def test_a_failure_that_comes_after_its_claim_ended_leaves_the_next_try_alone(error):
    add("k")

    def consume(delivery):  # so slow that another try has claimed the row before this one fails
        Outbox.objects.filter(pk=delivery.id).update(tries=2, claimed_until=now() + timedelta(seconds=60))
        raise error

    dispatch.register_consumer(TOPIC, consume)
    dispatch.outbox_pass()
    row = Outbox.objects.get()
    assert (row.dead_at, row.last_error) == (None, "")
    assert row.claimed_until is not None
    assert row.claimed_until > now()


@pytest.fixture
def heard(monkeypatch):
    """Batches that a listener got, and the keys at which it raises."""
    monkeypatch.setattr(dispatch, "_consumers", {})
    monkeypatch.setattr(dispatch, "_listeners", {})
    batches: list[list[str]] = []
    bad: set[str] = set()

    def listen(deliveries):
        keys = [each.key for each in deliveries]
        batches.append(keys)
        if bad & set(keys):
            raise ValueError("a bad row")
        return {"heard": len(keys)}

    dispatch.register_listener(TOPIC, listen)
    return (batches, bad)


def test_announcements_are_told_together_and_in_the_order_of_their_stream(heard):
    batches, _ = heard
    add("a1", "a"), add("a2", "a"), add("b1", "b")
    assert dispatch.outbox_pass() == 3
    assert batches == [["a1", "b1"], ["a2"]]
    assert {row.key: row.observed for row in Outbox.objects.filter(done_at__isnull=False)} == {
        "a1": {"heard": 2},
        "b1": {"heard": 2},
        "a2": {"heard": 1},
    }


def test_a_bad_announcement_is_tried_again_and_the_others_are_told(heard):
    _, bad = heard
    bad.add("b1")
    add("a1", "a"), add("b1", "b"), add("c1", "c")
    dispatch.outbox_pass()
    assert sorted(Outbox.objects.filter(done_at__isnull=False).values_list("key", flat=True)) == ["a1", "c1"]
    row = Outbox.objects.get(key="b1")
    assert (row.tries, "a bad row" in row.last_error) == (1, True)
    bad.clear()
    due_now()
    dispatch.outbox_pass()
    assert Outbox.objects.get(key="b1").done_at is not None


def test_more_announcements_than_a_batch_holds_are_told_in_one_pass_and_none_of_them_by_itself(heard):
    batches, _ = heard
    for number in range(7):
        add(f"k{number}", f"s{number}")
    assert dispatch.outbox_pass(3) == 7
    assert [len(batch) for batch in batches] == [3, 3, 1]
