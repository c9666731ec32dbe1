import pytest
from django.conf import settings

from factory_site.authorship import author_of
from runs.policy import policy_forget
from workers import authorship
from workers.authorship import NOBODY, Author, git_author, register_author

pytestmark = pytest.mark.django_db


@pytest.fixture
def own():
    """Say what the app that knows the forge knows."""
    before = list(authorship._provider)

    def known(author):
        register_author(lambda: author)

    yield known
    authorship._provider[:] = before


@pytest.fixture
def stated():
    path = settings.FACTORY.home / "policy.yaml"

    def write(text):
        path.write_text(text)
        policy_forget()

    yield write
    path.unlink(missing_ok=True)
    policy_forget()


def test_the_own_account_makes_the_commits_and_a_worker_learns_it_from_hello(worker, own):
    own(Author("robo", "robo@users.noreply.github.com"))
    assert worker.hello().json()["git"] == {"name": "robo", "email": "robo@users.noreply.github.com"}


def test_what_the_policy_states_wins_each_by_itself(own, stated):
    own(Author("robo", "robo@users.noreply.github.com"))
    stated("git: {name: Factory of Acme}\n")
    assert git_author() == Author("Factory of Acme", "robo@users.noreply.github.com")
    stated("git: {name: Factory of Acme, email: factory@acme.example}\n")
    assert git_author() == Author("Factory of Acme", "factory@acme.example")


def test_an_account_that_is_not_known_yet_holds_nobody_up(own):
    own(None)
    assert git_author() == NOBODY


def test_an_address_belongs_to_the_forge():
    assert author_of("robo", "https://github.com").email == "robo@users.noreply.github.com"
    assert author_of("app[bot]", "https://git.acme.example:8443").email == "app[bot]@users.noreply.git.acme.example"
