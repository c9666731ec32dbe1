"""Everything that one look at one row knows, gathered once and shared by guards, writes and questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergence.decisions.advisories import AdvisoryFacts, advisory_facts
from convergence.flow import ConvergenceState as S
from convergence.forge.facts import Profile, PullFacts
from convergence.forge.reading import read_pull
from convergence.forge_access import own_login, people_of, pull_ref
from convergence.guards import PullSeen
from convergence.looks.reading import may_matter, seen_of
from convergence.models import Escalation, RoundTurn
from convergence.services.identity import pull_gone, pull_missing, pull_seen, snapshot_kept
from convergence.services.reviews import known_reviews, reviews_seen, threads_open
from convergence.services.teams import teams_of, teams_refreshed
from convergence.services.waivers import waived_at
from convergence.texts import Place
from convergence.trust import People
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, NotFound
from runs.models import Attempt, Run
from runs.policy import policy

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.decisions.reviews import KnownReview, OpenThread, Waived
    from convergence.forge.client import ForgeClient
    from convergence.models import ConvergenceFlow, PullRequest


READING_REVIEWS = frozenset({S.CAPTURE_HEAD, S.AWAIT_REVIEW, S.CONVERGE_GATE})


@dataclass(slots=True)
class Scene:
    """One row, its pull request, and what this look read.

    ``facts`` is ``None`` when the forge was not read; ``read_from`` is the instant before its newest reading.
    """

    client: ForgeClient
    row: ConvergenceFlow
    pull: PullRequest
    now: datetime
    read_from: datetime
    facts: PullFacts | None = None
    error: FactoryError | None = None
    watch: PullFacts | None = None  # the short reading of a wait: it alone lists the requested reviewers
    people: People = People()  # noqa: RUF009  # frozen, and nobody is in it
    reviews: tuple[KnownReview, ...] = ()
    threads: tuple[OpenThread, ...] = ()
    turn: RoundTurn | None = None
    run: Run | None = None
    attempt: Attempt | None = None
    advisories: AdvisoryFacts = AdvisoryFacts()  # noqa: RUF009  # frozen, and lists nothing
    waived: Waived = frozenset()  # at the head that was read
    ruling: Escalation | None = None  # a person's answer about the scope

    @property
    def seen(self) -> PullSeen:
        """How the pull request was found."""
        return seen_of(self.facts, self.error)

    @property
    def head(self) -> str | None:
        """The commit that the branch points at; unknown when it was not read."""
        return self.facts.head_sha if self.facts else None

    @property
    def open(self) -> bool:
        """Whether the pull request was read and is open."""
        return self.seen is PullSeen.OPEN

    @property
    def complete(self) -> bool:
        """Whether reviews and threads were read to their full count."""
        facts = self.facts
        return bool(facts and facts.reviews and facts.reviews.complete and facts.threads and facts.threads.complete)

    @property
    def unreachable(self) -> bool:
        """Whether pull request or head have been gone long enough."""
        missing = self.seen is PullSeen.MISSING or (self.open and self.head is None)
        return missing and pull_gone(self.pull, self.now)

    @property
    def place(self) -> Place:
        """What questions name."""
        return Place(
            key=self.pull.key,
            url=self.pull.url,
            round=self.row.round,
            max_rounds=self.row.max_rounds,
            head=self.head or self.pull.head_sha or None,
        )


def scene_of(
    client: ForgeClient,
    row: ConvergenceFlow,
    pull: PullRequest,
    outcome: PullFacts | FactoryError,
    *,
    read_from: datetime,
) -> Scene:
    """Record what was read and gather what the row's state decides on; may read the one pull request once more."""
    now = clock_now()
    scene = Scene(client=client, row=row, pull=pull, now=now, read_from=read_from)
    if isinstance(outcome, FactoryError):
        scene.error = outcome
        if isinstance(outcome, NotFound):
            pull_missing(pull, now)
    else:
        scene.facts = outcome
        pull_seen(pull, outcome, now)
        snapshot_kept(pull, outcome)
    if row.state in {S.REVIEW_ROUND, S.CHECK_PROGRESS, S.SCOPE_CHECK} and row.run_id:
        scene.run = Run.objects.filter(run_id=row.run_id).first()
        scene.attempt = Attempt.objects.filter(run=scene.run).order_by("-id").first() if scene.run else None
    if row.state in READING_REVIEWS or _scope_over(scene):
        _reviews(scene)
        scene.waived = waived_at(row, scene.head)
    if row.state in {S.REVIEW_ROUND, S.CHECK_PROGRESS, S.CONVERGE_GATE}:
        scene.turn = turn_of(row)
    if row.state in {S.CONVERGE_GATE, S.SCOPE_CHECK}:
        scene.ruling = ruling_of(row)
    return scene


def _scope_over(scene: Scene) -> bool:
    """Whether the scope check ended or its time is over, so that the gate has to be judged on what is open now."""
    row, run = scene.row, scene.run
    late = row.timer_at is not None and row.timer_at <= scene.now
    return row.state == S.SCOPE_CHECK and (late or (run is not None and run.is_at_rest))


def _read_whole(scene: Scene) -> PullFacts | None:
    """Read again, with reviews and threads, in the place of the short reading; None where that failed."""
    scene.read_from = clock_now()
    try:
        facts = read_pull(scene.client, Profile.BACKLOG, pull_ref(scene.pull))
    except FactoryError as error:
        scene.facts, scene.error = None, error  # half a reading decides nothing
        return None
    scene.facts = facts
    if facts.head_sha:
        pull_seen(scene.pull, facts, scene.now)
    snapshot_kept(scene.pull, facts)
    return facts


def turn_of(row: ConvergenceFlow) -> RoundTurn | None:
    """The turn that the row is in or has just ended."""
    return (
        RoundTurn.objects.select_related("round")
        .filter(round__pull=row.pull_id, round__generation=row.generation, round__number=row.round, turn=row.turn)
        .first()
    )


def _teams_known(scene: Scene) -> bool:
    """Whether it is known who speaks for the teams among the reviewers; half a reading decides nothing."""
    try:
        teams_refreshed(scene.client, teams_of(policy().reviewers_for(scene.pull.repository.full_name)))
    except FactoryError as error:
        scene.facts, scene.error = None, error
        return False
    return True


def ruling_of(row: ConvergenceFlow) -> Escalation | None:
    """The answer about the scope that holds for the row, None where it was taken back."""
    if row.scope_ruling_id is None:
        return None
    rulings = Escalation.objects.select_related("task").filter(pk=row.scope_ruling_id, reverted_at__isnull=True)
    return rulings.first()


def _reviews(scene: Scene) -> None:
    """Bring reviews and threads into the scene; a short reading that shows something new is followed by a long one."""
    if not _teams_known(scene):
        return
    scene.people = people_of(scene.pull.repository.full_name, own=own_login(scene.client))
    generation = scene.row.generation
    scene.reviews = known_reviews(scene.pull, generation)
    facts = scene.facts
    if facts is None or not scene.open:
        return
    if facts.profile is Profile.WATCH:
        scene.watch = facts
        if not may_matter(facts, scene.reviews, scene.people):
            recorded = {review.forge_id for review in scene.reviews}
            if facts.reviews and any(str(review.id) not in recorded for review in facts.reviews.items):
                reviews_seen(scene.pull, facts, scene.people, scene.now)  # strangers', which pages show
            return
    if facts.profile is not Profile.BACKLOG:
        facts = _read_whole(scene)
    if facts is None:
        return
    reviews_seen(scene.pull, facts, scene.people, scene.now)
    scene.reviews = known_reviews(scene.pull, generation)
    scene.threads = threads_open(scene.pull, facts, generation, scene.people)
    scene.advisories = advisory_facts(
        facts,
        scene.people,
        {review.forge_id: review for review in scene.reviews},
        head=facts.head_sha,
        policy=policy().convergence.advisories,
    )
