"""The interpreter answers what GitHub's schema has, and refuses the rest by path."""

from itertools import product
from typing import Any

import graphql
import pytest

from convergence.forge.documents import connections, effects, profiles
from convergence.forge.documents.dialect import INTROSPECTION, Dialect
from convergence.forge.facts import Profile
from fixtures.simulator import Simulator
from fixtures.simulator.graphql.checking import Checker, cost
from fixtures.simulator.graphql.language import document_parse
from fixtures.simulator.graphql.schema import schema_load
from tests.contracts import graphql as published
from tests.unit.simulator.conftest import Client

LISTS = [each for each in vars(connections).values() if isinstance(each, connections.Connection)]


def test_the_schema_is_githubs_own_in_names_and_types() -> None:
    whole = published.schema()
    for mine in schema_load().types.values():
        theirs: Any = whole.type_map[mine.name]
        assert set(mine.values) <= set(getattr(theirs, "values", {}))
        assert not isinstance(theirs, graphql.GraphQLUnionType) or set(mine.members) <= {t.name for t in theirs.types}
        for name, definition in mine.fields.items():
            field = theirs.fields[name]
            assert str(definition.type) == str(field.type), f"{mine.name}.{name}"
            assert {n: str(a.type) for n, a in definition.arguments.items()} == {
                n: str(a.type) for n, a in field.args.items()
            }
        for name, argument in mine.inputs.items():
            assert str(argument.type) == str(theirs.fields[name].type)


def _documents() -> list[str]:
    found = [profiles.by_name(profile, Dialect()) for profile in Profile]
    for dialect in [Dialect(*flags) for flags in product([True, False], repeat=3)]:
        for profile in Profile:
            found.append(profiles.by_node_ids(profile, dialect, 2))
        found += [profiles.page_of(each, dialect) for each in LISTS] + [effects.review_requests(dialect)]
    fixed = [INTROSPECTION, profiles.THREAD_COMMENTS, profiles.IDENTITY, profiles.VIEWER]
    found += [*fixed, effects.REPLY, effects.RESOLVE, effects.THREAD_STATE, effects.REQUEST_BY_LOGIN]
    return sorted(set(found))


def test_every_document_of_the_client_fits_the_published_schema_and_the_simulators() -> None:
    for text in _documents():
        assert published.errors(text) == [], text[:120]
        parsed = document_parse(text)
        errors = Checker(schema_load(), parsed, parsed.operations[0], {}).errors
        assert [e for e in errors if e["extensions"]["code"] != "INVALID_VARIABLES"] == [], text[:120]


def test_every_profile_is_answered_without_an_error(sim: Simulator, client: Client, pull: Any) -> None:
    sim.verbs.open_thread(pull, "app.py", 1, "Name it.")
    sim.verbs.review(pull, "ann", "APPROVED")
    sim.verbs.request_review(pull, "copilot-pull-request-reviewer")
    sim.verbs.add_check(pull, "test")
    sim.verbs.set_status(pull, "legacy/ci", "failure")
    for profile in Profile:
        answer = client.graphql(profiles.by_node_ids(profile, Dialect(), 1), i0=pull.node_id)
        assert "errors" not in answer, answer
        assert answer["data"]["p0"]["number"] == 1


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("query q { viewer { login shoeSize } }", "Field 'shoeSize' doesn't exist on type 'User'"),
        ("query q { viewer(size: 1) { login } }", "doesn't accept argument 'size'"),
        ("query q { node { id } }", "missing required arguments: id"),
        ("query q($id: ID!) { viewer { login } }", "$id is declared by q but not used"),
        ("query q { node(id: $id) { id } }", "$id is used but not declared"),
        ("query q { viewer { ...F } }", "Fragment F was used, but not defined"),
        ("query q { viewer { ... on Issue { id } } }", "Fragment on Issue can't be spread inside User"),
        ("query q { viewer { login { x } } }", "Selections can't be made on scalars"),
        ("query q { viewer }", "Field must have selections"),
        ("query q { viewer { login ", "Parse error"),
        ("query q { repository(owner: 1, name: $$) { id } }", "Parse error"),
        ('mutation m { resolveReviewThread(input: {thread: "x"}) { clientMutationId } }', "doesn't accept argument"),
    ],
)
def test_a_document_that_the_schema_does_not_have_is_refused_whole_and_noticed(
    sim: Simulator, client: Client, *, document: str, message: str
) -> None:
    """Proves GH-H18 for documents."""
    answer = client.graphql(document, **({"id": "x"} if "$id: ID!" in document else {}))
    assert "data" not in answer
    assert any(message in error["message"] for error in answer["errors"]), answer
    assert sim.log.violations
    sim.log.violations.clear()


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
        ('(first: 5, after: "nonsense")', "INVALID_CURSOR_ARGUMENTS"),
    ],
)
def test_a_connection_without_good_bounds_fails_at_its_path(
    client: Client, pull: Any, *, arguments: str, kind: str
) -> None:
    document = (
        f"query q($id: ID!) {{ p0: node(id: $id) {{ ... on PullRequest {{ reviews{arguments} {{ totalCount }} }} }} }}"
    )
    answer = client.graphql(document, id=pull.node_id)
    assert answer["data"] == {"p0": {"reviews": None}}
    assert [(e["type"], e["path"]) for e in answer["errors"]] == [(kind, ["p0", "reviews"])]


def test_a_null_where_none_is_allowed_takes_its_parent(client: Client, pull: Any) -> None:
    document = "query q($id: ID!) { p0: node(id: $id) { ... on PullRequest { number reviewThreads { totalCount } } } }"
    assert client.graphql(document, id=pull.node_id)["data"] == {"p0": None}


def test_a_missing_node_is_an_error_of_its_alias_alone(client: Client, pull: Any) -> None:
    document = (
        "query q($a: ID!, $b: ID!) { p0: node(id: $a) { id } p1: node(id: $b) { ... on PullRequest { number } } }"
    )
    answer = client.graphql(document, a="PR_none", b=pull.node_id)
    assert answer["data"] == {"p0": None, "p1": {"number": 1}}
    assert [(e["type"], e["path"]) for e in answer["errors"]] == [("NOT_FOUND", ["p0"])]


@pytest.mark.parametrize(("status", "kind"), [(404, "NOT_FOUND"), (403, "FORBIDDEN")])
def test_a_repository_that_the_token_may_not_see_is_hidden(
    sim: Simulator, client: Client, pull: Any, *, status: int, kind: str
) -> None:
    sim.faults.forbid("acme/shop", status)
    answer = client.graphql("query q($id: ID!) { p0: node(id: $id) { id } }", id=pull.node_id)
    assert (answer["data"], answer["errors"][0]["type"]) == ({"p0": None}, kind)
    assert client.rest("GET", "/repos/acme/shop").status_code == status


def test_pages_lead_to_the_end_forwards_and_backwards(sim: Simulator, client: Client, pull: Any) -> None:
    for number in range(5):
        sim.verbs.open_thread(pull, "app.py", 1, f"thread {number}")
    document = """query q($id: ID!, $n: Int!, $after: String, $before: String, $forward: Boolean!) { p0: node(id: $id) {
      ... on PullRequest {
        forward: reviewThreads(first: $n, after: $after) @include(if: $forward) { ...Page }
        back: reviewThreads(last: $n, before: $before) @skip(if: $forward) { ...Page } } } }
      fragment Page on PullRequestReviewThreadConnection { totalCount nodes { comments(first: 1) { nodes { body } } }
        pageInfo { hasNextPage endCursor hasPreviousPage startCursor } }"""
    found: list[str] = []
    variables: dict[str, Any] = {"after": None}
    while True:
        page = client.graphql(document, id=pull.node_id, n=2, forward=True, **variables)["data"]["p0"]["forward"]
        assert page["totalCount"] == 5
        found += [n["comments"]["nodes"][0]["body"] for n in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        variables = {"after": page["pageInfo"]["endCursor"]}
    assert found == [f"thread {n}" for n in range(5)]
    last = client.graphql(document, id=pull.node_id, n=2, forward=False)["data"]["p0"]["back"]
    before = last["pageInfo"]["startCursor"]
    page = client.graphql(document, id=pull.node_id, n=2, forward=False, before=before)["data"]["p0"]["back"]
    shown = [n["comments"]["nodes"][0]["body"] for n in page["nodes"]]
    assert (shown, page["pageInfo"]["hasPreviousPage"]) == (["thread 1", "thread 2"], True)


def test_a_list_can_be_cut_short_or_change_between_pages(sim: Simulator, client: Client, pull: Any) -> None:
    for number in range(3):
        sim.verbs.open_thread(pull, "app.py", 1, f"thread {number}")
    document = """query q($id: ID!, $after: String) { p0: node(id: $id) { ... on PullRequest {
      reviewThreads(first: 2, after: $after) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } } } }"""
    sim.faults.truncate("reviewThreads", at=1, times=1)
    cut = client.graphql(document, id=pull.node_id)["data"]["p0"]["reviewThreads"]
    assert (cut["totalCount"], len(cut["nodes"]), cut["pageInfo"]["hasNextPage"]) == (3, 1, False)
    sim.faults.shift("reviewThreads")
    first = client.graphql(document, id=pull.node_id)["data"]["p0"]["reviewThreads"]
    after = first["pageInfo"]["endCursor"]
    second = client.graphql(document, id=pull.node_id, after=after)["data"]["p0"]["reviewThreads"]
    assert (first["totalCount"], second["totalCount"]) == (3, 4)


def test_replies_and_resolutions_have_their_effect(sim: Simulator, client: Client, pull: Any) -> None:
    thread = sim.verbs.open_thread(pull, "app.py", 1, "Name it.")
    reply = client.graphql(effects.REPLY, thread=thread.node_id, body="Done.")
    made = reply["data"]["addPullRequestReviewThreadReply"]["comment"]
    assert sim.verbs.expect_reply(thread, "Done.").node_id == made["id"]
    shown = client.graphql(effects.RESOLVE, thread=thread.node_id)["data"]["resolveReviewThread"]["thread"]
    assert (shown["isResolved"], thread.is_resolved) == (True, True)
    gone = client.graphql(effects.RESOLVE, thread="PRRT_none")
    assert (gone["data"]["resolveReviewThread"], gone["errors"][0]["type"]) == (None, "NOT_FOUND")
    assert [sim.log.count(name) for name in ("reply", "resolve")] == [1, 2]


def test_a_draft_is_made_ready(sim: Simulator, client: Client, pull: Any) -> None:
    sim.verbs.edit(pull, draft=True)
    document = """mutation ready($id: ID!) {
      markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"""
    answer = client.graphql(document, id=pull.node_id)
    assert answer["data"]["markPullRequestReadyForReview"] == {"pullRequest": {"isDraft": False}}


def test_whether_a_check_is_required_is_asked_for_one_pull_request(sim: Simulator, client: Client, pull: Any) -> None:
    sim.verbs.protect(pull.repo, required_checks=["test"])
    for name in ("test", "lint"):
        sim.verbs.add_check(pull, name)
    document = """query q($id: ID!) { p0: node(id: $id) { ... on PullRequest { statusCheckRollup { contexts(first: 9) {
      nodes { ... on CheckRun { name isRequired%s } } } } } } }"""
    good = client.graphql(document % "(pullRequestId: $id)", id=pull.node_id)["data"]["p0"]["statusCheckRollup"]
    assert good["contexts"]["nodes"] == [{"name": "test", "isRequired": True}, {"name": "lint", "isRequired": False}]
    bad = client.graphql(document % "", id=pull.node_id)
    assert bad["errors"][0]["path"] == ["p0", "statusCheckRollup", "contexts", "nodes", 0, "isRequired"]


def test_points_follow_githubs_formula_and_are_charged(sim: Simulator, client: Client, pull: Any) -> None:
    for profile, count, points in ((Profile.WATCH, 50, 1), (Profile.BACKLOG, 1, 1), (Profile.BACKLOG, 2, 2)):
        parsed = document_parse(profiles.by_node_ids(profile, Dialect(), count))
        assert cost(schema_load(), parsed, parsed.operations[0], {})[0] == points
    answer = client.graphql(profiles.by_node_ids(Profile.WATCH, Dialect(), 1), i0=pull.node_id)
    assert (answer["data"]["rateLimit"]["cost"], answer["data"]["rateLimit"]["remaining"]) == (1, 4999)
    assert sim.log.points() == 1


def test_many_pull_requests_are_opened_at_once_and_read_in_one_document(
    sim: Simulator, client: Client, shop: Any
) -> None:
    many = sim.verbs.add_pulls(shop, 200)
    document = profiles.by_node_ids(Profile.MERGE, Dialect(), 50)
    for _ in range(2):
        answer = client.graphql(document, **{f"i{n}": p.node_id for n, p in enumerate(many[:50])})["data"]
    assert {answer[f"p{n}"]["mergeStateStatus"] for n in range(50)} == {"CLEAN"}
    assert {answer[f"p{n}"]["headRef"]["target"]["oid"] for n in range(50)} == {p.head_sha for p in many[:50]}
    assert sim.log.points() == 2


def test_more_nodes_than_github_allows_are_refused(sim: Simulator, client: Client, pull: Any) -> None:
    inner = "reviewThreads(first: 100) { nodes { comments(first: 100) { totalCount } } }"
    aliases = " ".join(f"p{n}: node(id: $id) {{ ... on PullRequest {{ {inner} }} }}" for n in range(50))
    answer = client.graphql(f"query q($id: ID!) {{ {aliases} }}", id=pull.node_id)
    assert answer["errors"][0]["type"] == "MAX_NODE_LIMIT_EXCEEDED"
    sim.log.violations.clear()


def test_a_slow_server_answers_502_above_some_aliases(sim: Simulator, client: Client, pull: Any) -> None:
    sim.faults.slow_graphql(over=2)
    status = [client_status(sim, profiles.by_node_ids(Profile.ALIVE, Dialect(), n), pull.node_id, n) for n in (2, 3)]
    assert status == [200, 502]
    del client


def client_status(sim: Simulator, document: str, node_id: str, count: int) -> int:
    import requests

    body = {"query": document, "variables": {f"i{n}": node_id for n in range(count)}}
    headers = {"Authorization": f"Bearer {sim.token}", "User-Agent": "test"}
    return requests.post(sim.graphql_url, json=body, headers=headers, timeout=10).status_code


def test_introspection_names_fields_and_members_also_of_an_older_server(sim: Simulator, client: Client) -> None:
    shown = client.graphql(INTROSPECTION)["data"]
    assert {"name": "isInMergeQueue"} in shown["pull"]["fields"]
    assert {"name": "Bot"} in shown["reviewer"]["possibleTypes"]
    assert {"name": "requestReviewsByLogin"} in shown["mutation"]["fields"]
    sim.faults.drop_schema("PullRequest.isInMergeQueue")
    sim.faults.drop_schema("RequestedReviewer.Bot")
    shown = client.graphql(INTROSPECTION)["data"]
    assert {"name": "isInMergeQueue"} not in shown["pull"]["fields"]
    assert {"name": "Bot"} not in shown["reviewer"]["possibleTypes"]


def test_a_spent_budget_is_an_error_of_its_own_type(sim: Simulator, client: Client) -> None:
    sim.faults.rate_limit("graphql", remaining=0)
    answer = client.graphql("query q { viewer { login } }")
    assert answer == {"errors": [{"type": "RATE_LIMITED", "message": answer["errors"][0]["message"]}]}
