from datetime import timedelta
from itertools import pairwise

from convergence.forge.governor.account import WRITES
from convergence.models import ConvergenceFlow, ForgeBudget, PullRequest, PullRequestGeneration, ReviewRequest
from convergence.services.cancel import pull_cancel
from runs.clock import now
from runs.contract.errors import FactoryError
from runs.flows.looks import flows_pass
from runs.models import Outbox, TransitionLog
from runs.outbox.dispatch import outbox_pass
from tests.db.convergence.stage import PERSON
from tests.threads import together

ROWS = 100


def due():
    ForgeBudget.objects.filter(resource=WRITES).update(stamps=[])  # a second passed since the last write
    ConvergenceFlow.rows().filter(due_at__isnull=False).update(due_at=now())
    Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True).update(available_at=now(), claimed_until=None)


def test_ten_submits_at_once_make_one_generation(stage):
    """CV-S2, CV-H1: nine of them are told that it is running."""
    pull = stage.pull_on_forge()
    answers = together([lambda: stage.submit(pull)] * 10)
    assert sorted(answer.already_running for answer in answers) == [False] + [True] * 9
    assert ConvergenceFlow.objects.count() == PullRequestGeneration.objects.count() == 1
    assert PullRequest.objects.get().generation == 1


def test_two_pollers_take_one_edge_and_send_one_request_for_each_row(stage):
    """CV-S40: whoever looks at the same time, each row moves once, and no error is shown."""
    pulls = [stage.pull_on_forge(branch=f"feat/{number}") for number in range(ROWS)]
    for pull in pulls:
        stage.submit(pull, auto_merge=False)
    later = now() + timedelta(minutes=30)
    ConvergenceFlow.rows().update(state="await_review", waiting_since=now(), timer_at=later)
    for _ in range(2):
        due()
        together([flows_pass, flows_pass, outbox_pass, outbox_pass])
    for _ in range(ROWS):
        if not Outbox.objects.filter(done_at__isnull=True).exists():
            break
        due()
        together([lambda: outbox_pass(2)] * 2)
    assert ReviewRequest.objects.filter(outcome="requested").count() == ROWS
    assert stage.sim.log.count("request_review") == ROWS

    for pull in pulls:
        stage.review(pull, clean=True)
    due()
    together([flows_pass, flows_pass])
    assert ConvergenceFlow.rows().filter(state="converged").count() == ROWS
    for edge in ("empty_review_arrived", "gate_passed"):
        assert TransitionLog.objects.filter(edge=edge).count() == ROWS
    assert not ConvergenceFlow.rows().exclude(last_look_error="").exists()


def test_a_cancel_and_a_look_never_both_win(stage):
    """CV-H20: one path through the log, and the run of a cancelled pull request is cancelled."""
    pull = stage.begun()
    stage.push()
    stage.agent({"status": "addressed"})

    def cancel():
        try:
            return pull_cancel(pull=PullRequest.objects.select_related("repository").get(), actor=PERSON).state
        except FactoryError as error:
            return error.code

    due()
    answer, _ = together([cancel, flows_pass])
    assert answer in {"abandoned", "moved_on"}
    log = list(TransitionLog.objects.order_by("id").values_list("from_state", "to_state"))
    assert all(before[1] == after[0] for before, after in pairwise(log))
    if answer == "abandoned":
        assert log[-1][1] == "abandoned"
    assert pull.state == "OPEN"
