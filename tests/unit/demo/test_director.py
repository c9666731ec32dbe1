"""The director against an API of two pull requests that lives in memory."""

from pathlib import Path
from typing import Any

from factory_site.demo import director as directing
from factory_site.demo.director import Director
from factory_site.demo.telling import Paper

SCRIPT = {
    "repositories": [{"name": "acme/shop"}],
    "pulls": [
        {"repo": "acme/shop", "branch": "b", "title": "B", "expect": "merged"},
        {"repo": "acme/shop", "branch": "a", "title": "A", "expect": "merged"},
    ],
}


class Api:
    """A control plane where the second pull request lands first; both are over at once."""

    url = "http://127.0.0.1:1"

    def __init__(self, *, second: str = "merged") -> None:
        self.states = {"1": "merged", "2": second}

    def is_up(self) -> bool:
        return True

    def login(self) -> dict[str, str]:
        return {"username": "admin", "password": "-"}

    def post(self, path: str, body: dict[str, Any]) -> Any:
        assert path == "/api/v1/pull-requests"
        return body

    def get(self, path: str) -> Any:
        if path.startswith("/api/v1/tasks"):
            return {"items": []}
        number = path.rpartition("/")[2]
        state = self.states[number]
        row: dict[str, Any] = {"id": 20 if number == "1" else 10, "edge": "landing_proven", "to": state, "guards": {}}
        return {"state": state, "transitions": [row]}


def played(monkeypatch, api: Api, **script: Any) -> tuple[int, str]:
    """Exit code and words of `--once`."""
    monkeypatch.setattr(directing, "LOOK_EVERY", 0.0)
    said: list[str] = []
    director = Director(
        api,  # type: ignore[arg-type]  # stands in for the client
        Path("home"),
        {**SCRIPT, **script},
        once=True,
        seconds=30,
        say=said.append,
        paper=Paper(colour=False),
    )
    ticks = [director.tick() for _ in range(2)]
    assert ticks == [False, True], "the first tick opens, the second sees the end"
    return director.result(), "\n".join(said)


def test_ends_that_the_scenario_expects_make_exit_code_zero(monkeypatch):
    code, said = played(monkeypatch, Api(), lands_in_order=["a", "b"])
    assert code == 0
    assert "landed one after another: #2 #1" in said
    assert "All ended as the scenario says" in said


def test_an_end_that_nobody_expected_makes_exit_code_one(monkeypatch):
    """GH-S31"""
    code, said = played(monkeypatch, Api(second="abandoned"))
    assert code == 1
    assert "NOT AS EXPECTED" in said


def test_landings_in_another_order_make_exit_code_one(monkeypatch):
    code, said = played(monkeypatch, Api(), lands_in_order=["b", "a"])
    assert code == 1
    assert "landed one after another: #2 #1  NOT AS EXPECTED" in said
