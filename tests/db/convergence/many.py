"""Many pull requests at once: opened on the simulated GitHub in one breath, and in rows as they wait for a review."""

from datetime import timedelta

from convergence.models import ConvergenceFlow, HeadSeen, PullRequest, PullRequestGeneration, Repository
from runs.clock import now

LONG = timedelta(hours=1)


def many_waiting(sim, *, repositories, each):
    """``each`` pull requests in each of ``repositories`` that wait for a review; their looks are due now."""
    opened = []
    for number in range(repositories):
        name = f"acme/many-{number}"
        sim.verbs.add_repository(name)
        opened += sim.verbs.add_pulls(name, each)
    return rows_of(opened)


def rows_of(opened, *, state="await_review", pull_state="waiting_review", ended=False):
    """The product's rows of opened pull requests, made in bulk; ``ended``: as history that nothing moves any more."""
    at = now()
    homes = {}
    for pull in opened:
        if pull.repo.id not in homes:
            homes[pull.repo.id] = Repository.objects.create(
                forge_id=pull.repo.id, owner=pull.repo.owner.login, name=pull.repo.name, created_at=at
            )
    pulls = PullRequest.objects.bulk_create(
        [
            PullRequest(
                repository=homes[pull.repo.id], number=pull.number, node_id=pull.node_id, title=pull.title,
                url=f"https://forge.example/{pull.key}", author="dev", head_ref=pull.head_ref, head_sha=pull.head_sha,
                base_ref=pull.base_ref, head_repository=pull.repo.full_name, head_repository_id=pull.repo.id,
                state=pull_state, generation=1, root=pull.key, created_at=at, updated_at=at,
            )
            for pull in opened
        ],
        batch_size=500,
    )  # fmt: skip
    PullRequestGeneration.objects.bulk_create(
        [
            PullRequestGeneration(
                pull=pull, number=1, max_rounds=20, auto_merge=False, submitted_by="operator:ann", submitted_at=at,
                abandon_token=f"token-{pull.pk}", correlation_id=f"many:{pull.pk}",
            )
            for pull in pulls
        ],
        batch_size=500,
    )  # fmt: skip
    HeadSeen.objects.bulk_create(
        [HeadSeen(pull=pull, sha=pull.head_sha, first_seen_at=at) for pull in pulls], batch_size=500
    )
    ConvergenceFlow.rows().bulk_create(
        [
            ConvergenceFlow(
                subject=pull.subject, generation=1, state=state, pull=pull, max_rounds=20, entered_at=at,
                created_at=at, due_at=None if ended else at, ended_at=at if ended else None,
                timer_at=None if ended else at + LONG, waiting_since=at, waiting_head=pull.head_sha, turn=1,
            )
            for pull in pulls
        ],
        batch_size=500,
    )  # fmt: skip
    return pulls


def asked_already(pulls):
    """Every reviewer was asked a moment ago, so that a look finds nothing to do."""
    from convergence.models import ReviewRequest

    at = now()
    ReviewRequest.objects.bulk_create(
        [
            ReviewRequest(
                pull=pull, generation=1, reviewer="copilot", head=pull.head_sha, number=1, key=f"asked:{pull.pk}",
                asked_at=at, outcome="requested",
            )
            for pull in pulls
        ],
        batch_size=500,
    )  # fmt: skip
