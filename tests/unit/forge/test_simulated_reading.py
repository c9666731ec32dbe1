"""Reading against the simulated GitHub: batches, pages, identity, older servers."""

import math

import pytest

from convergence.forge import singles
from convergence.forge.checks import check_rollup
from convergence.forge.facts import Profile, PullFacts, PullRef
from convergence.forge.reading import read_pulls
from convergence.forge.references import lookup
from convergence.reviewers.contract import Pending
from convergence.reviewers.copilot import Copilot
from runs.contract.errors import NotFound, Permanent, Transient


def known(value):
    assert value is not None
    return value


def rows(world, count, start=1):
    """As many rows as a test wants, all of the one pull request."""
    return [PullRef("acme", "shop", start + n, world.pull.node_id) for n in range(count)]


def test_a_poll_of_a_thousand_rows_takes_twenty_requests_and_points(world):
    """GH-H3: 600 watched, 200 merging, 200 alive; one introspection a day comes on top."""
    mix = {Profile.WATCH: 600, Profile.MERGE: 200, Profile.ALIVE: 200}
    world.read(Profile.ALIVE)
    world.log.clear()
    start = 1
    for profile, count in mix.items():
        found = read_pulls(world.client, profile, rows(world, count, start))
        assert len(found) == count
        assert all(isinstance(facts, PullFacts) for facts in found.values())
        start += count
    assert world.log.count() == sum(math.ceil(count / 50) for count in mix.values()) == 20
    assert world.log.points() <= 22


@pytest.mark.parametrize("profile", Profile)
def test_every_profile_reads_what_it_asks_by_node_id_and_by_name(world, profile):
    by_id = world.read(profile)
    by_name = read_pulls(world.client, profile, [named := PullRef("acme", "shop", world.pull.number)])[named]
    assert isinstance(by_name, PullFacts)
    assert by_id.node_id == by_name.node_id == world.pull.node_id
    assert by_id.head_sha == by_name.head_sha == world.pull.head_sha
    listings = [item for item in (by_id.reviews, by_id.threads, by_id.contexts, by_id.commits) if item is not None]
    assert all(item.complete for item in listings)
    assert PullFacts.from_json(by_id.to_json()) == by_id


def test_the_head_is_the_branch_and_moves_with_a_push(world):
    before = world.read(Profile.ALIVE)
    sha = world.verbs.push("acme/shop", "feat/total", {"app.py": "x = 4\n"})
    after = world.read(Profile.ALIVE)
    assert after.head_sha == sha
    assert after.head_ref_oid == before.head_sha


def test_a_deleted_fork_leaves_an_unknown_head(world):
    fork = world.verbs.fork("acme/shop", "ada")
    pull = world.verbs.add_pull("acme/shop", "fix", fork=fork, files={"b.py": "y\n"}, by="ada")
    ref = PullRef("acme", "shop", pull.number, pull.node_id)
    facts = read_pulls(world.client, Profile.ALIVE, [ref])[ref]
    assert isinstance(facts, PullFacts)
    assert facts.is_cross_repository
    assert (known(facts.head_repository).name_with_owner, facts.head_sha) == ("ada/shop", pull.head_sha)
    world.verbs.delete_repository(fork)
    facts = read_pulls(world.client, Profile.ALIVE, [ref])[ref]
    assert isinstance(facts, PullFacts)
    assert (facts.head_repository, facts.head_sha) == (None, None)


def test_a_hundred_and_one_threads_are_all_read_and_a_lie_about_them_is_noticed(world):
    """GH-S9: two pages; a list that shows fewer than it counts is incomplete."""
    found = [{"path": "app.py", "line": 1, "text": f"Finding {n}"} for n in range(101)]
    world.verbs.review(world.pull, "copilot-pull-request-reviewer", threads=found)
    threads = known(world.read(Profile.BACKLOG).threads)
    assert threads.complete
    assert len(threads.items) == 101
    world.faults.truncate("reviewThreads", at=60)
    threads = known(world.read(Profile.BACKLOG).threads)
    assert not threads.complete
    assert threads.total == 101


def test_a_red_check_on_the_second_page_is_found(world):
    world.verbs.add_check(world.pull, "lint", "FAILURE")
    for number in range(129):
        world.verbs.add_check(world.pull, f"test-{number}")
    rollup = check_rollup(world.read(Profile.MERGE).contexts)
    assert rollup.complete
    assert len(rollup.checks) == 130
    assert [check.name for check in rollup.failing] == ["lint"]


def test_a_list_that_keeps_shifting_is_incomplete(world):
    """GH-S10: each of the four passes sees another count on its second page."""
    found = [{"path": "app.py", "line": 1, "text": f"Finding {n}"} for n in range(101)]
    world.verbs.review(world.pull, "copilot-pull-request-reviewer", threads=found)
    world.faults.shift("reviewThreads")
    world.log.clear()
    assert not known(world.read(Profile.BACKLOG).threads).complete
    assert world.log.count("graphql:Page") == 7


def test_a_deleted_repository_is_one_alias_and_a_rename_changes_nothing(world):
    other = world.verbs.add_repository("beta/gone", {"a": "b\n"})
    lost = world.verbs.add_pull("beta/gone", "x", files={"a": "c\n"})
    refs = [world.ref, PullRef("beta", "gone", lost.number, lost.node_id)]
    world.verbs.delete_repository(other)
    world.verbs.rename("acme/shop", "gamma/store")
    found = read_pulls(world.client, Profile.ALIVE, refs)
    kept = found[refs[0]]
    assert isinstance(kept, PullFacts)
    assert kept.repository.name_with_owner == "gamma/store"
    assert kept.repository.forge_id == world.repo.id
    assert isinstance(found[refs[1]], NotFound)


def test_documents_that_are_too_large_for_the_server_are_halved(world):
    """GH-S3, GH-H4: 50, 25, 12; then every poll begins with what worked."""
    world.read(Profile.ALIVE)
    world.faults.slow_graphql(over=20)
    world.log.clear()
    found = read_pulls(world.client, Profile.ALIVE, rows(world, 50))
    assert all(isinstance(facts, PullFacts) for facts in found.values())
    assert [entry.status for entry in world.log.entries] == [502, 502, 200, 200, 200, 200, 200]
    world.log.clear()
    read_pulls(world.client, Profile.ALIVE, rows(world, 24))
    assert [entry.status for entry in world.log.entries] == [200, 200]


def test_an_outage_fails_every_row_and_asks_nothing_singly(world):
    world.read(Profile.ALIVE)
    world.faults.fail_next("graphql:Pulls", 503, times=10)
    world.log.clear()
    found = read_pulls(world.client, Profile.ALIVE, rows(world, 50))
    assert all(isinstance(error, Transient) for error in found.values())
    assert world.log.count() == 4


def test_a_forbidden_repository_is_not_gone(world):
    world.faults.forbid("acme/shop", status=403)
    error = read_pulls(world.client, Profile.ALIVE, [world.ref])[world.ref]
    assert isinstance(error, Permanent)
    assert error.code == "forge_forbidden"


def test_a_look_up_tells_a_pull_request_from_an_issue_and_from_nothing(world):
    issue = world.verbs.add_issue("acme/shop", "Broken")
    assert lookup(world.client, "ACME", "Shop", world.pull.number) == world.ref
    for number, reason in ((issue.number, "not_a_pull_request"), (99, None)):
        with pytest.raises(NotFound) as raised:
            lookup(world.client, "acme", "shop", number)
        assert (raised.value.code, raised.value.details.get("reason")) == ("unknown_pull_request", reason)


def test_an_older_server_names_no_bots_and_no_queue_and_is_read_all_the_same(world):
    """GH-S28: queue facts unknown; who is pending is asked by REST before a request is sent."""
    for gone in ("RequestedReviewer.Bot", "PullRequest.isMergeQueueEnabled", "PullRequest.isInMergeQueue"):
        world.faults.drop_schema(gone)
    world.verbs.request_review(world.pull, "copilot-pull-request-reviewer")
    merge = world.read(Profile.MERGE)
    assert (merge.in_merge_queue, merge.merge_queue_enabled) == (None, None)
    watch = world.read(Profile.WATCH)
    assert Copilot().pending(watch) is Pending.UNKNOWN
    assert world.perform("request_review", world.request_arguments()).outcome == "already_pending"
    assert world.log.count("request_review") == 0
    world.verbs.review(world.pull, "copilot-pull-request-reviewer")
    assert [Copilot().counts(review) for review in known(world.read(Profile.WATCH).reviews).items] == [True]


def test_single_reads_have_a_typed_answer(world):
    head = world.pull.head_sha
    comparison = singles.compare(world.client, "acme", "shop", "main", "feat/total")
    assert (comparison.status, comparison.ahead_by, comparison.behind_by) == ("ahead", 1, 0)
    repository = singles.repository(world.client, "acme", "shop")
    assert (repository.forge_id, repository.default_branch, repository.allow_squash) == (world.repo.id, "main", True)
    pull = singles.get_pull(world.client, "acme", "shop", world.pull.number)
    assert (pull.node_id, pull.head_sha, pull.state) == (world.pull.node_id, head, "open")
    files = singles.pull_files(world.client, "acme", "shop", world.pull.number)
    assert files.complete
    assert [(item.path, item.status) for item in files.items] == [("app.py", "modified")]
    assert singles.viewer(world.client).login == world.sim.world.viewer.login


def test_many_files_are_read_to_the_last_page(world):
    world.verbs.push("acme/shop", "feat/total", {f"f{n}.txt": "x\n" for n in range(120)})
    files = singles.pull_files(world.client, "acme", "shop", world.pull.number)
    assert files.complete
    assert len(files.items) == 121
    world.faults.fail_next("list_files", 500, times=1)
    with pytest.raises(Transient):
        singles.pull_files(world.client, "acme", "shop", world.pull.number)


def test_a_renamed_repository_is_found_by_its_old_name_and_says_so(world):
    world.verbs.rename("acme/shop", "store")
    assert singles.repository(world.client, "acme", "shop").name_with_owner == "acme/store"
    answer = world.client.rest("GET", "repos/acme/shop")
    assert answer.moved_to is not None


def test_the_authors_of_the_commits_are_read(world):
    world.verbs.push("acme/shop", "feat/total", {"app.py": "x = 5\n"}, by="ada")
    authors = singles.pull_authors(world.client, "acme", "shop", world.pull.number)
    assert authors.complete
    assert len(authors.items) == 2


def test_only_merged_pull_requests_of_a_branch_make_it_a_dead_end(world):
    assert singles.merged_pulls_of(world.client, "acme", "shop", "feat/total") == ()
    world.verbs.merge_by_hand(world.pull)
    assert singles.merged_pulls_of(world.client, "acme", "shop", "feat/total") == (world.pull.number,)
