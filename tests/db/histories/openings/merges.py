"""Openings around merges: what a decided merge, its call, its queue and its landing may come to."""

from convergence.services.cancel import pull_cancel
from runs.models import HumanTask
from tests.db.histories.moves import directed, merging, people, queues
from tests.db.histories.openings.table import opening
from tests.db.histories.openings.waiting import CHECKED, agent_says, looks, ready, red, waits

NOT_MERGEABLE = (405, "Pull Request is not mergeable")
BASE_MODIFIED = (405, "Base branch was modified. Review and try the merge again.")
NOT_PERMITTED = (403, "Resource not accessible by integration")


def refused(stage, operation, refusal, times):
    status, message = refusal
    stage.sim.faults.fail_next(operation, status, times=times, message=message)


@opening("merge:cancelled", rules=CHECKED)
def cancelled_while_it_waits(stage):
    _, row = waits(stage)
    if row:
        people.allowed(stage, lambda: pull_cancel(pull=row, actor=people.PERSON))


@opening("merge:merge_retried", rules=CHECKED, merge_retries=5)
@opening("merge:merge_retries_spent", rules=CHECKED, merge_retries=0)
def the_base_moves_at_each_call(stage):
    waits(stage)
    refused(stage, "merge", BASE_MODIFIED, 2)
    ready(stage)


@opening("merge:refusal_counted", rules=CHECKED, merge_retries=5)
@opening("merge:refused_too_often", rules=CHECKED, merge_retries=0)
def a_call_is_refused(stage):
    waits(stage)
    refused(stage, "merge", NOT_MERGEABLE, 2)
    ready(stage)


@opening("merge:merge_forbidden", rules=CHECKED)
def a_call_is_not_permitted(stage):
    waits(stage)
    refused(stage, "merge", NOT_PERMITTED, 2)
    ready(stage)


@opening("merge:merge_outcome_lost", rules=CHECKED, merge_retries=5)
@opening("merge:merge_outcome_lost_too_often", rules=CHECKED, merge_retries=0)
def the_delivery_of_a_call_dies(stage):
    waits(stage)
    if directed.decided(stage):
        directed.dies(stage, "merge")
        stage.passes(121)


@opening("merge:merge_found_closed", rules=CHECKED)
def closed_before_its_call(stage):
    waits(stage)
    directed.closed_before_its_call(stage)


@opening("merge:merge_dead_end", rules=CHECKED)
def its_base_lands_before_its_call(stage):
    waits(stage)
    directed.the_base_lands_before_the_call(stage)


@opening("merge:landing_proven_late", rules=CHECKED)
def undone_and_back(stage):
    waits(stage)
    directed.undone_when_it_lands(stage, comes_back=True)


@opening("merge:answered_look_again", rules=CHECKED)
def undone_for_good(stage):
    waits(stage)
    directed.undone_when_it_lands(stage, comes_back=False)


@opening("merge:taken_back", "merge:evicted", queue=True, merge_retries=5, after="foreign_push")
def pushed_while_queued(stage):
    ready(stage)
    queues.pushed_while_queued(stage)
    looks(stage, 61, 61, 61)


@opening("merge:evicted_too_often", queue=True, merge_retries=0)
def dropped_by_the_queue(stage):
    ready(stage)
    for pull in stage.pulls:
        stage.sim.verbs.evict(pull, "queue cleared")
    looks(stage, 61, 61)


@opening("merge:dequeued", queue=True)
def taken_out_by_a_person(stage):
    ready(stage)
    for pull in stage.pulls:
        stage.sim.verbs.evict(pull, "dequeued by a user", by="dev")
    looks(stage, 61, 61)


@opening("merge:branch_update_lost", rules=CHECKED, merge_retries=5)
def the_delivery_of_an_update_dies(stage):
    waits(stage)
    directed.the_base_must_be_fresh(stage, "dies")


@opening("merge:branch_not_updated", rules=CHECKED, merge_retries=5)
def pushed_before_its_update(stage):
    waits(stage)
    directed.the_base_must_be_fresh(stage, "moves")


@opening("merge:branch_update_begun", "merge:branch_updated", rules=CHECKED, merge_retries=5)
def its_base_must_be_fresh(stage):
    waits(stage)
    directed.the_base_must_be_fresh(stage, "works")


@opening("merge:branch_update_refused", rules=CHECKED, rebases=3, merge_retries=5)
@opening("merge:branch_update_impossible", rules=CHECKED, rebases=0, merge_retries=5)
def a_fresh_base_is_not_permitted(stage):
    waits(stage)
    directed.the_base_must_be_fresh(stage, "refused")


@opening("merge:agent_question_stands", "merge:agent_blocked_unproven", rules=CHECKED, ci_fixes=3)
def blocked_and_still_red(stage):
    red(stage)
    agent_says(stage, {"status": "blocked", "question": "Which total is right?"})
    looks(stage, 61)


@opening("merge:checks_rerun", rules=CHECKED, ci_fixes=3)
def a_repeat_is_asked_for(stage):
    red(stage)
    agent_says(stage, {"status": "reattempt"})
    looks(stage, 61)


@opening("merge:agent_waits_on_pull", rules=CHECKED, ci_fixes=3, pulls=2)
def another_is_named(stage):
    red(stage)
    agent_says(stage, {"status": "waiting_on_pr", "dependsOn": [f"#{stage.pulls[-1].number}"]})


@opening("merge:agent_sla_passed", rules=CHECKED, ci_fixes=3, sla_minutes=10)
def an_agent_says_nothing(stage):
    red(stage)
    directed.an_agent_says_nothing(stage)


@opening("merge:agent_asked", "merge:rebase_begun", rules=CHECKED, rebases=3)
@opening("merge:conflict", rules=CHECKED, rebases=0)
def a_conflict(stage):
    pull, _ = waits(stage)
    if pull is None:
        return
    path = f"{pull.head_ref.replace('/', '-')}.py"
    stage.sim.verbs.push(pull.repo, pull.base_ref, {path: "total = 0\n"}, "Base")
    ready(stage)
    agent_says(stage, {"status": "blocked", "question": "Which behaviour wins?"})


@opening("merge:stall_rebased", rules=CHECKED, rebases=3, stall_rounds=5)
def a_word_that_nobody_knows(stage):
    pull, _ = waits(stage)
    if pull:
        stage.sim.verbs.say_merge_state(pull, "SOMETHING_NEW")
        looks(stage, 61, 1801, 121, 121)


@opening("merge:unreachable", rules=CHECKED)
def hidden_for_a_while(stage):
    waits(stage)
    directed.nobody_may_read_it(stage)


@opening("merge:merged_elsewhere", rules=CHECKED)
def merged_by_a_person(stage):
    pull, _ = waits(stage)
    if pull:
        merging.made_ready(stage, pull)
        stage.sim.verbs.merge_by_hand(pull)
        looks(stage, 61)


@opening("merge:answered_abandon", rules=CHECKED, ci_fixes=0)
def given_up_by_a_person(stage):
    red(stage)
    for task in HumanTask.objects.filter(state="open"):
        people.answered(stage, task, {"resolution": "abandon"})
    looks(stage, 1)


@opening("merge:closed_elsewhere", rules=CHECKED)
def closed_by_a_person(stage):
    pull, _ = waits(stage)
    if pull:
        stage.sim.verbs.close(pull)
        looks(stage, 61)


@opening("merge:dependency_dead", "merge:answered_drop", rules=CHECKED, pulls=3)
def one_that_is_waited_for_closes(stage):
    waits(stage)
    directed.one_that_is_waited_for_closes(stage)
    directed.one_that_is_waited_for_closes(stage)


@opening("merge:dependency_cyclic", "merge:dependency_appeared", rules=CHECKED, pulls=2)
def two_wait_for_each_other(stage):
    waits(stage)
    directed.two_wait_for_each_other(stage)
    directed.two_wait_for_each_other(stage)


@opening("merge:landing_is_manual", rules=CHECKED)
def only_people_merge(stage):
    waits(stage)
    directed.only_people_merge(stage)


@opening("merge:draft", rules=CHECKED)
def a_draft(stage):
    pull, _ = waits(stage)
    if pull:
        stage.sim.verbs.edit(pull, draft=True)
        looks(stage, 61, 61)


@opening("merge:approval_missing", "merge:answered_approve", rules=CHECKED, approval="[main]")
def a_guarded_base(stage):
    waits(stage)
    ready(stage)
    for task in HumanTask.objects.filter(state="open", refs__reason="approval_required"):
        people.answered(stage, task, {"resolution": "approve"})
    looks(stage, 1, 5)


@opening("merge:branch_updates_spent", rules=CHECKED, merge_retries=0)
def no_update_is_left(stage):
    waits(stage)
    directed.the_base_must_be_fresh(stage, "works")


@opening("merge:merge_behind", rules={"strict": True, "required_checks": ["test"]}, merge_retries=5)
def behind_its_base(stage):
    pull, _ = waits(stage)
    if pull:
        stage.sim.verbs.push(pull.repo, "main", {"OTHER.md": "other\n"}, "Other")
        ready(stage)


@opening("merge:queue_entered", "merge:queue_stalled", rules=CHECKED)
def entered_by_hand(stage):
    waits(stage)
    queues.enters_the_queue_by_hand(stage)
    looks(stage, 21_700)


@opening("merge:fresh_run_begun", rules=CHECKED)
def no_check_has_run(stage):
    pull, _ = waits(stage)
    if pull:
        text = '{"requiredChecks": ["test"], "freshHeadRun": "reopen"}'
        merging.declare(stage, pull.repo, "main", text)
        looks(stage, 121, 61, 61)
