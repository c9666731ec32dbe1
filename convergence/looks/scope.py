"""What a scope check is asked with: the issues that the pull request closes, its files, words of trusted authors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convergence.decisions.scope import closing_references
from convergence.forge.facts import Profile
from convergence.forge.issues import issue
from convergence.forge.reading import read_pull
from convergence.forge.singles import pull_files
from convergence.forge_access import pull_ref
from convergence.looks.words import words_told
from convergence.models import PullRequestGeneration, Round
from runs.contract.errors import NotFound, Permanent
from runs.queue.flow_steps import FlowStep, StepRequest

if TYPE_CHECKING:
    from convergence.forge.facts import ClosingIssue, PullFacts
    from convergence.looks.scene import Scene

AGENT = "scope-classify"
STEP = "scope_check"
MOST_FILES = 300
MOST_ISSUES = 20


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """What was read for a scope check; ``head`` is the one that it was read at."""

    head: str | None
    variables: dict[str, Any]

    @property
    def closes(self) -> int:
        """How many issues the pull request closes."""
        return len(self.variables["closes"])


def scope_facts(scene: Scene) -> ScopeFacts:
    """Read what the pull request closes and changes; raises the forge's errors. Not for use in a transaction."""
    facts = read_pull(scene.client, Profile.SUBMIT, pull_ref(scene.pull))
    repository = scene.pull.repository
    files = pull_files(scene.client, repository.owner, repository.name, scene.pull.number)
    written: Any = {"author": facts.author, "association": facts.association, "url": facts.url}
    variables = {
        "prKey": scene.pull.key,
        "prUrl": scene.pull.url,
        "repo": repository.full_name,
        "prNumber": scene.pull.number,
        "title": words_told(scene.people, facts.title, **written),
        "body": words_told(scene.people, facts.body or "", **written),
        "summary": _summary(scene),
        "files": [each.path for each in files.items[:MOST_FILES]],
        "closes": [_told(scene, found, via) for found, via in _closed(scene, facts)],
    }
    return ScopeFacts(facts.head_sha, variables)


def scope_request(scene: Scene, scope: ScopeFacts, entry: int) -> StepRequest:
    """The request of the check; ``entry`` is the log row that entered the step. A ruling is given once there is one."""
    row, pull = scene.row, scene.pull
    generation = PullRequestGeneration.objects.get(pull=pull, number=row.generation)
    variables = dict(scope.variables)
    ruling = scene.ruling
    if ruling is not None:
        variables["scopeAnswer"] = str(ruling.task.variables.get("answer", ""))
    return StepRequest(
        agent_id=AGENT,
        flow=FlowStep(row.machine.name, row.subject, row.generation, STEP, entry),
        variables=variables,
        correlation_id=generation.correlation_id,
        repository=pull.repository.full_name,
    )


def _summary(scene: Scene) -> str:
    """What the agent said in the newest round."""
    rounds = Round.objects.filter(pull=scene.pull, generation=scene.row.generation)
    return rounds.order_by("-number").values_list("summary", flat=True).first() or ""


def _closed(scene: Scene, facts: PullFacts) -> list[tuple[ClosingIssue, str]]:
    """The issues that GitHub names, then those of closing keywords in title, body and every commit message."""
    found = {
        (each.repository.name_with_owner.lower(), each.number): (each, "github")
        for each in (facts.closing_issues.items if facts.closing_issues else ())
    }
    messages = [each.message for each in (facts.commits.items if facts.commits else ())]
    named = closing_references([facts.title, facts.body or "", *messages], scene.pull.repository.full_name)
    for repository, number in named:
        if len(found) >= MOST_ISSUES or (repository.lower(), number) in found:
            continue
        owner, _, name = repository.partition("/")
        try:
            told = issue(scene.client, owner, name, number)
        except (NotFound, Permanent):  # not shown to this token: nobody can say what it asks for
            continue
        if told is not None:
            found[repository.lower(), number] = (told, "keyword")
    return list(found.values())[:MOST_ISSUES]


def _told(scene: Scene, found: ClosingIssue, via: str) -> dict[str, Any]:
    repository = found.repository.name_with_owner
    url = f"{scene.client.config.server_url}/{repository}/issues/{found.number}"
    written: Any = {"author": found.author, "association": found.association, "url": url}
    return {
        "repo": repository,
        "number": found.number,
        "title": words_told(scene.people, found.title, **written),
        "body": words_told(scene.people, found.body, **written),
        "via": via,
    }
