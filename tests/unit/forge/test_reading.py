"""Reading in batches: one document for many, an outcome for each, and no short list that passes for a whole one."""

import pytest

from convergence.forge.facts import Profile, PullFacts, PullRef, PullState
from convergence.forge.reading import read_pull, read_pulls
from runs.contract.errors import NotFound, Permanent, Transient
from tests.unit.forge import pulls
from tests.unit.forge.pulls import Forge
from tests.unit.forge.stub import Clock, Reply, client_of


def known(value):
    assert value is not None
    return value


def refs(count, prefix="PR_"):
    return [PullRef("acme", "shop", n, f"{prefix}{n}") for n in range(1, count + 1)]


def test_many_pull_requests_share_documents_and_one_that_is_gone_fails_alone(serve):
    """GH-S2: 120 rows need three documents; only the deleted repository's row has no facts."""
    forge = Forge(lambda node_id: "NOT_FOUND" if node_id == "PR_60" else pulls.pull(node_id))
    clock = Clock()
    found = read_pulls(client_of(serve(forge), clock=clock), Profile.ALIVE, refs(120))
    assert forge.aliases == [50, 50, 20]
    gone = found.pop(refs(120)[59])
    assert isinstance(gone, NotFound)
    assert len(found) == 119
    assert all(isinstance(facts, PullFacts) and facts.observed_at == clock.at for facts in found.values())
    assert {ref.node_id: getattr(facts, "node_id", "") for ref, facts in found.items()} == {
        ref.node_id: ref.node_id for ref in found
    }


def test_a_forbidden_alias_and_a_missing_one_leave_the_others_valid(serve):
    answers = {"PR_1": "FORBIDDEN", "PR_2": None, "PR_3": {"__typename": "Issue"}}
    forge = Forge(lambda node_id: answers.get(node_id, pulls.pull(node_id)))
    found = list(read_pulls(client_of(serve(forge)), Profile.ALIVE, refs(4)).values())
    assert [type(item) for item in found] == [Permanent, Transient, NotFound, PullFacts]
    assert [getattr(item, "code", "") for item in found[:3]] == [
        "forge_forbidden",
        "forge_unread",
        "not_a_pull_request",
    ]


def test_a_document_that_is_too_much_is_halved_and_the_size_that_works_is_kept(serve):
    """GH-S3: 50, 25, 12; every row is read; the next poll begins at 12 and grows by 5 after ten good requests."""
    forge = Forge(pulls.pull)
    forge.gives_up_over = 20
    client = client_of(serve(forge))
    found = read_pulls(client, Profile.ALIVE, refs(60))
    assert forge.aliases == [50, 25, 12, 12, 12, 12, 12]
    assert all(isinstance(item, PullFacts) for item in found.values())
    forge.aliases.clear()
    read_pulls(client, Profile.ALIVE, refs(70))
    assert forge.aliases == [12, 12, 12, 12, 12, 10]
    forge.aliases.clear()
    read_pulls(client, Profile.ALIVE, refs(17))
    assert forge.aliases == [17]


def test_a_forge_that_stays_down_sees_three_smaller_tries_and_no_single_requests(serve):
    """GH-H4: 50, 25, 12, 6, and then every row backs off."""
    forge = Forge(pulls.pull)
    forge.gives_up_over = 0
    found = read_pulls(client_of(serve(forge)), Profile.ALIVE, refs(200))
    assert forge.aliases == [50, 25, 12, 6]
    assert len(found) == 200
    assert all(isinstance(item, Transient) for item in found.values())


def test_backlogs_are_read_one_to_a_document(serve):
    def node(node_id):
        return pulls.pull(node_id, reviewThreads=pulls.page([]), reviews=pulls.page([]), timelineItems=pulls.page([]))

    forge = Forge(node)
    read_pulls(client_of(serve(forge)), Profile.BACKLOG, refs(3))
    assert forge.aliases == [1, 1, 1]


def test_every_page_of_the_checks_is_read_and_the_red_one_on_the_third_is_found(serve):
    """GH-S9: 250 contexts, three pages."""
    runs = [pulls.check(n, "FAILURE" if n == 230 else "SUCCESS") for n in range(250)]

    def contexts(start):
        after = str(start + 100) if start + 100 < 250 else None
        return {"contexts": pulls.page(runs[start : start + 100], total=250, after=after)}

    def node(node_id):
        return pulls.pull(
            node_id, statusCheckRollup=contexts(0), latestOpinionatedReviews=pulls.page([]), isMergeQueueEnabled=False
        )

    def further(variables, _text):
        return pulls.pull("PR_1", statusCheckRollup=contexts(int(variables["cursor"])))

    forge = Forge(node, pages=further)
    facts = read_pull(client_of(serve(forge)), Profile.MERGE, refs(1)[0])
    assert known(facts.contexts).complete
    assert known(facts.contexts).total == len(known(facts.contexts).items) == 250
    assert [item.name for item in known(facts.contexts).items if item.conclusion == "FAILURE"] == ["test-230"]
    assert forge.followed == 2


def backlog(threads, **changed):
    found = {"reviewThreads": threads, "reviews": pulls.page([]), "timelineItems": pulls.page([])}
    return pulls.pull("PR_1", **{**found, **changed})


def read_backlog(serve, first, later):
    """Read a backlog whose further pages are ``later``, in order; return facts and the forge."""
    left = list(later)
    forge = Forge(lambda _: first, pages=lambda *_: left.pop(0))
    return read_pull(client_of(serve(forge)), Profile.BACKLOG, refs(1)[0]), forge


def test_a_count_that_disagrees_with_the_nodes_is_an_incomplete_list(serve):
    """GH-S9, GH-H5: one thread of 101 is missing on the last page."""
    threads = [pulls.thread(n) for n in range(101)]
    first = backlog(pulls.page(threads[:100], total=101, after="c"))
    facts, _ = read_backlog(serve, first, [backlog(pulls.page(threads[100:], total=101))])
    assert known(facts.threads).complete
    facts, _ = read_backlog(serve, first, [backlog(pulls.page([], total=101))])
    assert not known(facts.threads).complete
    assert known(facts.threads).total == 101


def test_a_list_that_shifts_while_it_is_paged_is_read_again_three_times_at_most(serve):
    """GH-S10: the fourth shift makes it incomplete; a reading without a shift in between is complete."""
    threads = [pulls.thread(n) for n in range(102)]
    start = backlog(pulls.page(threads[:100], total=101, after="c"))
    shifted = backlog(pulls.page(threads[100:], total=102))
    settled = [backlog(pulls.page(threads[:100], total=102, after="c")), shifted]

    facts, forge = read_backlog(serve, start, [shifted, start, shifted, start, shifted, *settled])
    assert known(facts.threads).complete
    assert [thread.id for thread in known(facts.threads).items] == [f"T{n}" for n in range(102)]
    assert forge.followed == 7

    facts, forge = read_backlog(serve, start, [shifted, start, shifted, start, shifted, start, shifted, *settled])
    assert not known(facts.threads).complete
    assert forge.followed == 7


@pytest.mark.parametrize(
    "later",
    [None, pulls.page([], total=101) | {"pageInfo": None}, pulls.page([None], total=101)],
    ids=["missing", "no page", "hidden node"],
)
def test_a_page_that_cannot_be_read_makes_the_list_incomplete_and_keeps_what_was_read(serve, later):
    """GH-H5: nothing that is unread passes for absent."""
    threads = [pulls.thread(n) for n in range(100)]
    first = backlog(pulls.page(threads, total=101, after="c"))
    facts, _ = read_backlog(serve, first, [None if later is None else backlog(later)])
    assert not known(facts.threads).complete
    assert len(known(facts.threads).items) == 100


def test_no_list_is_read_beyond_twenty_pages(serve):
    def pages(variables, _text):
        number = int(variables["cursor"])
        nodes = [pulls.thread(number * 100 + n) for n in range(100)]
        return backlog(pulls.page(nodes, total=2500, after=str(number + 1)))

    forge = Forge(lambda _: pages({"cursor": "0"}, ""), pages=pages)
    facts = read_pull(client_of(serve(forge)), Profile.BACKLOG, refs(1)[0])
    assert not known(facts.threads).complete
    assert len(known(facts.threads).items) == 2000
    assert forge.followed == 19


def test_the_newest_reviews_come_first_and_older_pages_go_before_them(serve):
    newest = [pulls.review(n) for n in range(100, 120)]
    older = [pulls.review(n) for n in range(100)]

    def node(node_id):
        return pulls.pull(node_id, reviews=pulls.page(newest, total=120, before="c"), reviewRequests=pulls.page([]))

    forge = Forge(node, pages=lambda *_: pulls.pull("PR_1", reviews=pulls.page(older, total=120)))
    facts = read_pull(client_of(serve(forge)), Profile.WATCH, refs(1)[0])
    assert [review.id for review in known(facts.reviews).items] == list(range(120))
    assert known(facts.reviews).complete


def test_the_comments_of_a_long_thread_are_followed_too(serve):
    comments = [pulls.comment(n) for n in range(60)]
    first = backlog(pulls.page([pulls.thread(1, pulls.page(comments[:50], total=60, after="c"))]))
    facts, forge = read_backlog(serve, first, [{"comments": pulls.page(comments[50:], total=60)}])
    assert known(facts.threads).items[0].comments.complete
    assert len(known(facts.threads).items[0].comments.items) == 60
    assert forge.followed == 1


def test_an_error_inside_a_list_makes_that_list_unread_and_one_elsewhere_the_pull_request(serve):
    def script(request):
        if "Dialect" in request.body["query"]:
            return Reply(body={"data": pulls.DIALECT})
        error = {"type": "FORBIDDEN", "path": ["p0", *path], "message": "not for you"}
        return Reply(body={"data": {"p0": backlog(pulls.page([]))}, "errors": [error]})

    client = client_of(serve(script))
    path = ["reviewThreads", "nodes", 0, "comments"]
    facts = read_pull(client, Profile.BACKLOG, refs(1)[0])
    assert not known(facts.threads).complete
    assert known(facts.reviews).complete
    path = ["headRef"]
    with pytest.raises(Transient, match="could not read a part"):
        read_pull(client, Profile.BACKLOG, refs(1)[0])


def test_a_deleted_head_is_an_unknown_head_and_a_commit_without_checks_has_none(serve):
    def node(node_id):
        return pulls.pull(
            node_id,
            headRef=None,
            headRepository=None,
            state="MERGED",
            mergedAt="2026-03-01T10:00:00Z",
            mergeCommit={"oid": "c" * 40},
            statusCheckRollup=None,
            latestOpinionatedReviews=pulls.page([]),
        )

    facts = read_pull(client_of(serve(Forge(node))), Profile.MERGE, refs(1)[0])
    assert (facts.head_sha, facts.head_repository, facts.state) == (None, None, PullState.MERGED)
    assert known(facts.contexts).complete
    assert known(facts.contexts).items == ()
    assert facts.reviews is None


def test_a_pull_request_without_a_node_id_is_read_by_name(serve):
    def script(request):
        if "Dialect" in request.body["query"]:
            return Reply(body={"data": pulls.DIALECT})
        assert request.body["variables"] == {"owner": "acme", "name": "shop", "number": 3}
        return Reply(body={"data": {"p0": {"pullRequest": pulls.pull("PR_3")}}})

    assert read_pull(client_of(serve(script)), Profile.ALIVE, PullRef("acme", "shop", 3)).node_id == "PR_3"


def test_facts_survive_being_stored(serve):
    threads = pulls.page([pulls.thread(1)])
    first = backlog(threads, reviews=pulls.page([pulls.review(5)]))
    facts, _ = read_backlog(serve, first, [])
    assert PullFacts.from_json(facts.to_json()) == facts


def test_an_older_server_is_asked_only_for_what_it_knows(serve):
    older = {
        "pull": {"fields": [{"name": "id"}]},
        "reviewer": {"possibleTypes": [{"name": "User"}]},
        "mutation": {"fields": []},
    }

    def script(request):
        text = request.body["query"]
        if "Dialect" in text:
            return Reply(body={"data": older})
        assert "isInMergeQueue" not in text
        assert "Bot" not in text
        contexts = {"statusCheckRollup": {"contexts": pulls.page([pulls.check(1)])}}
        node = pulls.pull(
            "PR_1",
            headCommits={"nodes": [{"commit": contexts}]},
            latestOpinionatedReviews=pulls.page([]),
        )
        return Reply(body={"data": {"p0": node}})

    stub = serve(script)
    client = client_of(stub)
    facts = read_pull(client, Profile.MERGE, refs(1)[0])
    assert facts.in_merge_queue is None
    assert [item.name for item in known(facts.contexts).items] == ["test-1"]
    read_pull(client, Profile.MERGE, refs(1)[0])
    assert len(stub.requests) == 3
