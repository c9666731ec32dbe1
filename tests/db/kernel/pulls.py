"""A pull request as the subject of a flow."""

from convergence.flow import PullState
from convergence.models import PullRequest, Repository
from runs.clock import now


def pull_made(number):
    """A submitted pull request of one repository."""
    at = now()
    repository, _ = Repository.objects.get_or_create(
        forge_id=7, defaults={"owner": "acme", "name": "shop", "created_at": at}
    )
    return PullRequest.objects.create(
        repository=repository,
        number=number,
        title="Total",
        url=f"https://forge.example/acme/shop/pull/{number}",
        state=PullState.CONVERGING,
        generation=1,
        root=f"acme/shop#{number}",
        created_at=at,
        updated_at=at,
    )
