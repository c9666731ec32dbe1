"""Texts quoted from ended pull requests are forgotten; what was decided about them stays."""

from datetime import timedelta

from convergence.models import Finding, PullRequest, RoundTurn
from convergence.retention import QuotedTexts
from convergence.services.cancel import pull_cancel
from runs.clock import now
from tests.db.convergence.stage import PERSON


def test_quoted_texts_go_with_the_end_of_their_pull_request_and_nothing_else_does(stage):
    pull = stage.pull_on_forge()
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Name it."}])
    stage.submit(pull)
    stage.settle()
    texts = QuotedTexts()
    PullRequest.objects.update(updated_at=now() - timedelta(days=400))
    assert texts.count(now()) == 0, "it has not ended"
    pull_cancel(pull=stage.pull, actor=PERSON)
    before = RoundTurn.objects.get()
    assert texts.count(now() - timedelta(days=180)) == 0, "it ended a moment ago"
    assert texts.count(now()) == 2
    assert texts.remove_some(now()) == 2
    assert (texts.count(now()), texts.remove_some(now())) == (0, 0)
    after = RoundTurn.objects.get()
    assert ("Name it." in str(before.backlog), "Name it." in str(after.backlog)) == (True, False)
    assert after.backlog_hash == before.backlog_hash
    finding = Finding.objects.get()
    assert (finding.text, finding.path, finding.statuses.get().trend) == ("", "app.py", "new")
