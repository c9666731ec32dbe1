import uuid
from functools import partial

import pytest

from factory_site.console.sign_in import TRIES, failure_record, pause_of
from factory_site.models import SignInFailure, Submission
from runs.models.transition import TransitionLog
from runs.models.user import Role
from tests.browser.world import fill, person
from tests.db.console.conftest import Visitor
from tests.threads import together

pytestmark = pytest.mark.django_db(transaction=True)

SENDS = 6


def test_one_form_sent_many_times_at_once_acts_once():
    """CO-H9: one transition; the others are answered as the first, or told that it is in hand."""
    world = fill()
    visitors = [Visitor(world.operator) for _ in range(SENDS)]
    path = f"/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}/cancel/"
    key = str(uuid.uuid4())
    answers = together([partial(each.post, path, submission=key, seen="1", reason="twice") for each in visitors])
    assert TransitionLog.objects.filter(subject=world.waiting.subject, edge="cancelled").count() == 1
    assert {answer.status_code for answer in answers} <= {303, 409}
    assert {answer["Location"] for answer in answers if answer.status_code == 303} == {path.removesuffix("cancel/")}
    assert Submission.objects.count() == 1


def test_of_two_people_who_answer_at_once_one_wins():
    """CO-H12: the other gets 409 with the first and its maker."""
    world = fill()
    visitors = [Visitor(world.operator), Visitor(person("ops-2", Role.OPERATOR))]
    path = f"/tasks/{world.task.pk}/complete/"
    answers = together(
        [
            partial(each.post, path, seen=world.task.seen_hash, resolution="retry", answer=f"words {number}")
            for number, each in enumerate(visitors)
        ]
    )
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    world.task.refresh_from_db()
    loser = next(answer for answer in answers if answer.status_code == 409)
    winner = world.task.answered_by.removeprefix("operator:")
    assert f"Already answered by {winner}. Nothing was changed." in loser.content.decode()
    assert world.task.variables["answer"] in loser.content.decode()


def test_wrong_passwords_at_once_are_all_counted():
    together([lambda: failure_record("Ops-1", "203.0.113.9")] * TRIES)
    assert SignInFailure.objects.count() == 1
    assert pause_of("ops-1", "203.0.113.9") is not None
