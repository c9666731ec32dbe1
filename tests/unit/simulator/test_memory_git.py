"""Repositories in memory answer as git does."""

import random
from datetime import UTC, datetime

import pytest

from fixtures.simulator.git_store import GitError, GitStore
from fixtures.simulator.memory_git import MemoryGit

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PATHS = ("a.py", "b.py", "deep/c.py")


@pytest.fixture(params=[GitStore, MemoryGit])
def store(request, tmp_path):
    made = request.param(tmp_path)
    made.create(1, "main")
    return made


def commit(store, branch, files, *parents):
    return store.commit(1, branch, files, f"Change {branch}", parents=parents, login="dev", at=AT)


def told(folder, kind):
    """What a store says about one random history; shas as the order in which they were made."""
    chosen, store = random.Random(11), kind(folder)
    store.create(1, "main")
    made = [commit(store, "main", {"a.py": "0\n", "b.py": "0\n"})]
    for number in range(12):
        path, text = chosen.choice(PATHS), chosen.choice([f"{number}\n", "same\n", None])
        made.append(commit(store, f"b{number}", {path: text}, chosen.choice(made)))
    said: list[tuple[object, ...]] = []
    for one in made:
        for other in made:
            tree = store.tip_of_merge(1, one, other)
            changes = [(c.path, c.status) for c in store.diff(1, one, other)]
            said.append((tree is None, store.distance(1, one, other), changes))
            base = store.merge_base(1, one, other)
            said.append((made.index(base), [made.index(sha) for sha in store.commits(1, one, other)]))
    return said


def test_it_says_of_a_random_history_what_git_says(tmp_path):
    assert told(tmp_path / "memory", MemoryGit) == told(tmp_path / "git", GitStore)


def test_commits_trees_and_refs_are_read_back(store):
    first = commit(store, "main", {"a.py": "1\n", "deep/c.py": "2\n"})
    other = commit(store, "feat", {"a.py": None, "b.py": "3\n"}, first)
    assert store.branches(1) == {"main": first, "feat": other}
    assert (store.show(1, other, "b.py"), store.show(1, other, "a.py")) == (b"3\n", None)
    assert [(kind, path) for kind, _, path, _ in store.listing(1, first, "")] == [("blob", "a.py"), ("tree", "deep")]
    assert [path for _, _, path, _ in store.listing(1, first, "deep")] == ["deep/c.py"]
    facts = store.facts(1, other)
    assert (facts.parents, facts.message, facts.author_name, facts.committed_at) == ((first,), "Change feat", "dev", AT)
    assert (store.resolve(1, "feat"), store.resolve(1, "nothing")) == (other, None)
    store.set_ref(1, "refs/heads/feat", None)
    assert store.branches(1) == {"main": first}


def test_a_rebase_is_on_the_base_and_a_conflict_is_none(store):
    first = commit(store, "main", {"a.py": "1\n"})
    head = commit(store, "feat", {"b.py": "1\n"}, first)
    base = commit(store, "main", {"c.py": "1\n"}, first)
    landed = store.rebase(1, base, head, login="dev", at=AT)
    assert store.facts(1, landed).parents == (base,)
    assert store.show(1, landed, "b.py") == b"1\n"
    clash = commit(store, "clash", {"c.py": "2\n"}, first)
    assert store.rebase(1, base, clash, login="dev", at=AT) is None


def test_what_does_not_exist_is_an_error(store):
    with pytest.raises(GitError):
        store.facts(1, "f" * 40)
