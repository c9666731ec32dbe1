"""Product and world in one process, on one clock that only moves by hand; all but the database can be forgotten."""

import logging
import random
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from pydantic import SecretStr

from convergence import forge_access
from convergence.forge.client import ForgeClient
from convergence.forge.wire.transport import Transport
from convergence.looks.quiet import QuietWaits
from convergence.models import ConvergenceFlow, PullRequest
from fixtures.simulator import ManualClock, Simulator
from merging.models import MergeFlow
from merging.services.start import merges_missing_start
from runs.flows.looks import flows_pass
from runs.models import Outbox
from runs.outbox.dispatch import outbox_pass
from runs.policy import policy_forget
from runs.queue.attempts.reaper import Grace, reaper_pass
from tests.db.histories import wire
from tests.db.histories.hooks import DirectHooks
from tests.db.histories.merges import Merges

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)  # the same for every run, as shas tell the instant
PERSON = "operator:ann"
SWEPT_AFTER = 60
MODELS = (ConvergenceFlow, MergeFlow)


class Faulty(logging.Handler):
    """Keeps what the product logs as an exception that it did not expect."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.seen = []

    def emit(self, record):
        if record.exc_info:
            self.seen.append(logging.Formatter().format(record))


class HistoryStage:
    """One world and the product that looks at it; ``chosen`` makes every choice of the history."""

    def __init__(self, folder, settings, monkeypatch, seed):
        random.seed(seed)  # the product spreads its looks
        self.chosen = random.Random(seed)
        self.sim = Simulator(folder, clock=ManualClock(BEGIN), strict=False, in_memory=True)
        self.hooks = DirectHooks(self.sim.world, told=self.chance(0.4))
        self.policy_path = folder / "policy.yaml"
        self.faulty = Faulty()
        self._settings = settings
        self.told = []  # what happened, for the message of a failure
        self.pulls = []  # of the world, submitted
        self.watch: Any = None  # set when the history begins
        self.older = False  # the server lacks what the client asks for
        self.merges = Merges(self)
        self.moves: dict[Any, float] = {}  # with their weights, set when the history begins
        clock = self.sim.clock
        monkeypatch.setattr("runs.clock.connection", SimpleNamespace(vendor="manual"))
        monkeypatch.setattr("runs.clock.datetime", SimpleNamespace(now=lambda _zone: clock.now()))
        monkeypatch.setattr(Transport, "_own_session", lambda _self: wire.session(self.sim, self.merges.arrived))
        monkeypatch.setitem(ForgeClient.__init__.__kwdefaults__, "sleep", lambda _seconds: None)
        self._monkeypatch = monkeypatch
        self.config(
            home=folder,
            github_api_url=self.sim.api_url,
            stated_graphql_url=self.sim.graphql_url,
            github_server_url=self.sim.server_url,
            github_token=SecretStr(self.sim.token),
        )

    def config(self, **values):
        self._settings.FACTORY = self._settings.FACTORY.model_copy(update=values)

    def policy(self, text):
        self.policy_path.write_text(text)
        policy_forget()

    def __enter__(self):
        logging.getLogger("runs").addHandler(self.faulty)
        self.restart()
        return self

    def __exit__(self, *_):
        logging.getLogger("runs").removeHandler(self.faulty)
        self.sim.close()

    # --- the product ---------------------------------------------------------------------------------------------

    def restart(self):
        """Everything that the process remembers is gone; only rows are left."""
        forge_access._clients.clear()
        forge_access._logins.clear()
        self._monkeypatch.setattr("convergence.looks.quiet.quiet_waits", fresh := QuietWaits())
        self._monkeypatch.setattr("convergence.looks.look.quiet_waits", fresh)

    def look(self):
        """One pass over what is due."""
        return flows_pass()

    def deliver(self):
        return outbox_pass()

    def passes(self, seconds=0):
        """Time passes, then the passes of the product run once; those that look for the lost only after a while."""
        self.sim.clock.advance(seconds)
        self.hooks.deliver()
        if seconds >= SWEPT_AFTER:
            reaper_pass(Grace(judged_from=self.now - timedelta(hours=1)))
            merges_missing_start()
        self.look()
        self.deliver()
        self.watch.check()

    def anything(self):
        """One move, drawn by its weight."""
        step = self.chosen.choices(list(self.moves), list(self.moves.values()))[0]
        self.note(step.__name__)
        step(self)
        self.watch.check()

    @property
    def now(self):
        return self.sim.clock.now()

    def next_instant(self):
        """Seconds until something is due, at least one."""
        instants = [
            instant
            for model in MODELS
            for row in model.rows().filter(ended_at__isnull=True).values_list("due_at", "timer_at")
            for instant in row
        ]
        waiting = Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True)
        instants += waiting.values_list("available_at", flat=True)
        ahead = [instant for instant in instants if instant is not None]
        return max(1.0, (min(ahead) - self.now).total_seconds()) if ahead else 60.0

    def rows(self):
        """The product's pull requests, with the world's own."""
        known = {row.number: row for row in PullRequest.objects.select_related("repository")}
        return [(pull, known[pull.number]) for pull in self.pulls if pull.number in known]

    # --- choices -------------------------------------------------------------------------------------------------

    def chance(self, share):
        return self.chosen.random() < share

    def one(self, things):
        things = list(things)
        return self.chosen.choice(things) if things else None

    def note(self, text):
        self.told.append(text)
