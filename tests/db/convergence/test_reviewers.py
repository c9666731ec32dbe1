"""Reviewers of every kind, from the policy to the gate, against the simulated GitHub."""

from convergence.models import ForgeTeam, ReviewerStatus, ReviewRequest, ReviewSeen
from tests.db.convergence.stage import claimed, waiting

UNSCOPED = "convergence: {scopeCheck: never}\n"
TEAM = "reviewers:\n  - {name: leads, adapter: team, team: acme/leads}\n"
PERSON = "reviewers:\n  - {name: ann, adapter: person, login: ann}\n"
BOT = (
    "reviewers:\n"
    '  - {name: scanner, adapter: bot, logins: [acme-scanner], request: {comment: "@acme-scanner review"}}\n'
)
SILENT = "reviewers:\n  - {name: scanner, adapter: bot, logins: [acme-scanner]}\n"


def asked(stage):
    stage.look()
    stage.effects()
    return ReviewRequest.objects.get()


def test_a_team_is_asked_and_a_members_review_is_its_review(stage, policy_file):
    policy_file(UNSCOPED + TEAM)
    stage.sim.verbs.add_team("acme", "leads", ["bob"])
    pull = waiting(stage, auto_merge=False)
    assert asked(stage).outcome == "requested"
    assert [team.slug for team in pull.requested] == ["leads"]
    stage.look()
    assert stage.sim.log.count("list_team_members") == 1, "members are believed for an hour"
    stage.sim.verbs.review(pull, "bob", state="APPROVED", body="")
    stage.settle()
    seen = ReviewSeen.objects.get()
    assert (seen.reviewer, seen.configured, seen.author) == ("leads", True, "bob")
    assert stage.flow.state == "converged"


def test_no_review_is_judged_before_the_members_of_a_team_are_known(stage, policy_file):
    policy_file(UNSCOPED + TEAM)
    stage.sim.verbs.add_team("acme", "leads", ["bob"])
    stage.sim.faults.fail_next("list_team_members", 502, times=-1)
    pull = stage.pull_on_forge()
    stage.sim.verbs.review(pull, "bob", state="APPROVED", body="Fine, but rename it.")
    stage.submit(pull)
    stage.step()
    assert not ReviewSeen.objects.exists()
    stage.sim.faults.cease("fail_next")
    stage.settle()
    assert ReviewSeen.objects.get().configured
    assert ForgeTeam.objects.get().members == ["bob"]


def test_a_person_who_cannot_be_asked_is_a_fault_of_the_policy(stage, policy_file):
    policy_file(PERSON)
    stage.sim.verbs.add_user("ann", "NONE")
    waiting(stage)
    assert asked(stage).outcome == "unavailable"
    assert ReviewerStatus.objects.get().misconfigured


def test_a_bot_is_asked_by_a_comment_and_its_words_are_free_text(stage, policy_file):
    policy_file(UNSCOPED + BOT)
    stage.sim.verbs.add_bot("acme-scanner")
    pull = waiting(stage, auto_merge=False)
    assert asked(stage).outcome == "requested"
    stage.sim.verbs.expect_comment(pull, "@acme-scanner review")
    stage.look()
    stage.effects()
    assert stage.sim.log.count("comment") == 1, "within the window it is asked once"
    stage.sim.verbs.review(pull, "acme-scanner", body="I have generated no comments.")
    stage.settle()
    assert stage.flow.round == 2, "words of a bot of any make are not taken for nothing"


def test_a_bot_that_reviews_by_itself_is_waited_for_and_never_asked(stage, policy_file):
    policy_file(UNSCOPED + SILENT)
    stage.sim.verbs.add_bot("acme-scanner")
    pull = waiting(stage, auto_merge=False)
    for _ in range(3):
        stage.look()
        stage.effects()
        stage.passes(minutes=6)
    assert not ReviewRequest.objects.exists()
    stage.sim.verbs.review(pull, "acme-scanner", state="APPROVED", body="")
    stage.settle()
    assert stage.flow.state == "converged"


def test_a_review_by_an_unknown_bot_is_shown_and_counted_and_nothing_is_concluded_from_it(stage, policy_file):
    policy_file(UNSCOPED)
    stage.sim.verbs.add_bot("shiny-reviewer")
    pull = stage.begun()
    stage.sim.verbs.review(pull, "shiny-reviewer", state="CHANGES_REQUESTED", body="Everything is wrong.")
    claimed(stage, pull)
    stage.settle()
    assert stage.edges[-1] == "gate_stale", "the head still needs the review of a reviewer"
    seen = ReviewSeen.objects.get()
    assert (seen.author, seen.configured, seen.trusted) == ("shiny-reviewer", False, False)
    assert (seen.counts_for, seen.void_reason) == ("", "not_a_reviewer")
    stage.review(pull, clean=True)
    stage.settle()
    assert stage.flow.state == "converged"


def test_a_bot_that_is_configured_later_is_judged_anew(stage, policy_file):
    stage.sim.verbs.add_bot("acme-scanner")
    pull = waiting(stage, auto_merge=False)
    stage.sim.verbs.review(pull, "acme-scanner", state="APPROVED", body="")
    stage.look()
    assert ReviewSeen.objects.get().void_reason == "not_a_reviewer"
    policy_file(UNSCOPED + SILENT)
    stage.settle()
    seen = ReviewSeen.objects.get()
    assert (seen.configured, seen.void_reason, seen.counts_for) == (True, "", pull.head_sha)
    assert stage.flow.state == "converged"
