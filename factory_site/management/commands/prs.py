"""`manage.py prs`: pull requests, and what an operator does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.flow import PullState
from convergence.forge.references import resolve_reference
from convergence.selectors.lists import pulls_listed
from convergence.selectors.lookup import pull_named
from convergence.selectors.shapes import wire
from convergence.services.cancel import pull_cancel
from convergence.services.look_now import pull_look
from convergence.services.probe import reviewer_probe
from factory_site.pulls import pull_document
from factory_site.shell.command_verbs import Verbs, instant, limit_of, list_flags
from merging.services.dependencies import dependency_drop
from merging.services.lanes import lane_pass
from runs.commands import command_actor

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

    from convergence.models import PullRequest


class Command(Verbs):
    """List and show pull requests; look now, cancel, pass a lane, drop a dependency, ask a reviewer again."""

    help = "Pull requests: list, show, look now, cancel, pass-lane, drop-dependency, probe-reviewer."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        rows = verbs.add_parser("list", help="pull requests, the newest change first")
        rows.add_argument("--state", choices=[state.value for state in PullState])
        rows.add_argument("--repo", default="", metavar="OWNER/REPO")
        list_flags(rows)
        for name, says in (
            ("show", "one with everything about it"),
            ("look", "look at it now"),
            ("cancel", "abandon it"),
            ("pass-lane", "let it merge before the neighbours of its lane"),
            ("drop-dependency", "let it merge without waiting for another one"),
        ):
            one = verbs.add_parser(name, help=says)
            one.add_argument("reference", metavar="OWNER/REPO#N or URL")
            if name == "show":
                one.add_argument("--json", action="store_true", help="print what the API answers")
            if name == "drop-dependency":
                one.add_argument("key", metavar="OWNER/REPO#N", help="the dependency")
            if name in {"cancel", "pass-lane", "drop-dependency"}:
                one.add_argument("--reason", default="", required=name != "cancel", metavar="TEXT")

        probe = verbs.add_parser("probe-reviewer", help="ask a reviewer again that GitHub refused to request")
        probe.add_argument("repository", metavar="OWNER/REPO")
        probe.add_argument("reviewer", metavar="NAME")

    def verb_list(self, options: dict[str, Any]) -> None:
        """Print a window of the list."""
        states = [options["state"]] if options["state"] else []
        page = pulls_listed(states=states, repository=options["repo"], limit=limit_of(options))
        if options["json"]:
            self.show_json({"items": wire(page.items)})
            return
        rows = [
            (row.pr_key, row.state, row.stage, f"{row.round}/{row.max_rounds}", instant(row.updated_at), row.title)
            for row in page.items
        ]
        titles = ("PULL REQUEST", "STATE", "STAGE", "ROUND", "CHANGED", "TITLE")
        self.show_rows(titles, rows, "no pull request; hand one over with: manage.py submit OWNER/REPO#N")

    def verb_show(self, options: dict[str, Any]) -> None:
        """Print one pull request: why it waits, its rounds, questions and merge attempts."""
        document = pull_document(_pull(options))
        if options["json"]:
            self.show_json(document)
            return
        waiting = document["waitingFor"]
        self.show_fields(
            {
                "pull request": f"{document['prKey']} {document['title']}",
                "state": f"{document['state']} ({document['stage']})",
                "round": f"{document['round']} of {document['maxRounds']}, submission {document['generation']}",
                "waits": waiting and waiting["sentence"],
                "reads": document["mergeability"] and document["mergeability"]["inputs"],
                "outcome": document["outcome"],
                "rests": document["restsBecause"],
                "landed": document["landedSha"],
                "url": document["url"],
            }
        )
        for row in document["dependencies"]:
            stands = f"dropped by {row['droppedBy']}" if row["droppedBy"] else row["note"] or row["state"]
            self.stdout.write(f"merges after {row['key']} ({row['source']}): {stands}")
        for wake in waiting["wouldMoveOn"] if waiting else ():
            self.stdout.write(f"  would move on: {wake['fact']} is {wake['now']}, needs {wake['need']}")
        for row in document["escalations"]:
            self.stdout.write(f"question {row['taskId']} ({row['state']}): {row['question']}")
        for row in document["transitions"][:10]:
            self.stdout.write(f"{instant(row['at'])} {row['from'] or '(new)'} -> {row['to']} by {row['edge']}")

    def verb_probe_reviewer(self, options: dict[str, Any]) -> None:
        """Forget that it was refused."""
        mark = reviewer_probe(repository=options["repository"], reviewer=options["reviewer"])
        was = instant(mark.unavailable_until) if mark and mark.unavailable_until else ""
        told = f"; it was not asked until {was}" if was else "; it was not marked"
        self.stdout.write(f"{options['reviewer']} is asked again in {options['repository']}{told}")

    def verb_look(self, options: dict[str, Any]) -> None:
        """Have it read again at once."""
        pull = _pull(options)
        self.stdout.write(f"{pull.key} is looked at: {instant(pull_look(pull=pull))}")

    def verb_cancel(self, options: dict[str, Any]) -> None:
        """Abandon it through the flow that drives it."""
        pull = pull_cancel(pull=_pull(options), actor=command_actor(), reason=options["reason"])
        self.stdout.write(f"{pull.key} is {pull.state}")

    def verb_pass_lane(self, options: dict[str, Any]) -> None:
        """Let it go before the neighbours of its lane."""
        pull = _pull(options)
        lane_pass(pull, actor=command_actor(), reason=options["reason"])
        self.stdout.write(f"{pull.key} may pass its lane")

    def verb_drop_dependency(self, options: dict[str, Any]) -> None:
        """Let it merge without waiting for another one."""
        pull = _pull(options)
        dropped = dependency_drop(pull, options["key"], actor=command_actor(), reason=options["reason"])
        self.stdout.write(f"{pull.key} no longer waits for {dropped.reference}")


def _pull(options: dict[str, Any]) -> PullRequest:
    ref = resolve_reference(options["reference"], settings.FACTORY.github_server_url)
    return pull_named(ref.owner, ref.name, ref.number)
