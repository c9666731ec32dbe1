"""A merge is decided on what was read for it, a moment ago."""

from datetime import timedelta

from merging.effects import merge
from runs.clock import now
from runs.models import Outbox
from tests.db.merging.test_merge_call import ready


def test_facts_that_took_more_than_ten_seconds_to_read_are_read_again_before_the_call(stage, monkeypatch):
    """GH-H16: the effect reads anew, after every write of the product, and decides on nothing older."""
    pull = ready(stage)
    begun = stage.sim.log.count("graphql:Pulls")
    with monkeypatch.context() as slow:
        slow.setattr(merge, "clock_now", lambda: now() + timedelta(seconds=10.5))
        stage.deliver()
    waiting = Outbox.objects.get(done_at__isnull=True, payload__effect="merge")
    assert waiting.last_error.startswith("facts_too_old")
    assert stage.calls() == 0
    assert stage.sim.log.count("graphql:Pulls") == begun + 1
    with monkeypatch.context() as soon:
        soon.setattr(merge, "clock_now", lambda: now() + timedelta(seconds=9))
        stage.deliver()
    assert stage.sim.log.count("graphql:Pulls") > begun + 1, "read anew"
    assert (stage.calls(), pull.state) == (1, "MERGED")
