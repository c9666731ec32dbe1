"""`manage.py credentials`: who may claim what. A token is written to a file and shown nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from runs.commands import ProductCommand, command_actor, life_given
from runs.contract.instants import format_instant
from workers import selectors
from workers.allowances import DEFAULT_KINDS, Allowances
from workers.host.credential import check_address
from workers.host.options import UsageError
from workers.services.credential_file import credential_path, credential_write
from workers.services.credentials import DEFAULT_LIFE, credential_issue, credential_revoke, credential_rotate

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from workers.services.credentials import Issued


class Command(ProductCommand):
    """Issue, rotate, revoke and list the credentials of nodes."""

    help = "Credentials of worker nodes: issue, rotate, revoke, list."

    def add_arguments(self, parser: CommandParser) -> None:
        """One subcommand for each verb."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        issue = verbs.add_parser("issue", help="a new node, or further allowances for a known one")
        issue.add_argument("node")
        issue.add_argument("--label", action="append", default=[], metavar="K=V", help="repeatable; V may be *")
        issue.add_argument("--adapter", action="append", default=[], metavar="A", help="repeatable; default: all")
        issue.add_argument(
            "--workspace-kind",
            action="append",
            default=[],
            metavar="K",
            help=f"repeatable; default: {', '.join(DEFAULT_KINDS)}",
        )
        issue.add_argument("--repository", action="append", default=[], metavar="R", help="owner/repo, owner/* or *")
        issue.add_argument("--allow-override", action="store_true", help="the node may run every adapter's work by one")
        _file_arguments(issue)
        rotate = verbs.add_parser("rotate", help="a second token with the same lists")
        rotate.add_argument("node")
        _file_arguments(rotate)
        revoke = verbs.add_parser("revoke", help="end a node's tokens at once")
        revoke.add_argument("node")
        revoke.add_argument("--token", metavar="PREFIX", help="only the token that begins so")
        listing = verbs.add_parser("list", help="nodes, lists, dates, last use")
        listing.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the verb."""
        del args
        getattr(self, f"_{options['verb']}")(options)

    def _issue(self, options: dict[str, Any]) -> None:
        allowed = Allowances(
            labels=_labels(options["label"]),
            adapters=options["adapter"],
            workspace_kinds=options["workspace_kind"],
            repositories=options["repository"],
            adapter_override=options["allow_override"],
        )
        life, options["url"] = _life(options["expires"]), _address(options["url"])
        self._deliver(
            credential_issue(node=options["node"], allowed=allowed, life=life, actor=command_actor()), options
        )

    def _rotate(self, options: dict[str, Any]) -> None:
        life, options["url"] = _life(options["expires"]), _address(options["url"])
        self._deliver(credential_rotate(node=options["node"], life=life, actor=command_actor()), options)

    def _revoke(self, options: dict[str, Any]) -> None:
        count = credential_revoke(node=options["node"], prefix=options["token"], actor=command_actor())
        self.stdout.write(f"revoked {count} token{'s' if count != 1 else ''} of {options['node']}")

    def _list(self, options: dict[str, Any]) -> None:
        rows = [_document(row) for row in selectors.credentials()]
        if options["json"]:
            self.stdout.write(json.dumps({"credentials": rows}, indent=2))
            return
        if not rows:
            self.stdout.write("no node has a credential; serve makes one for this machine: manage.py serve")
        for row in rows:
            self.stdout.write(f"{row['node']}  {_lists(row)}")
            for token in row["tokens"]:
                used = (
                    f"last used {token['lastUsedAt']} from {token['lastUsedFrom']}" if token["lastUsedAt"] else "unused"
                )
                expiry = f"expires {token['expiresAt']}" if token["expiresAt"] else "no expiry"
                self.stdout.write(f"  {token['prefix']}…  {token['state']}  {expiry}  {used}")

    def _deliver(self, issued: Issued, options: dict[str, Any]) -> None:
        path = Path(options["output"]) if options["output"] else credential_path(issued.node)
        try:
            credential_write(issued, path=path, url=options["url"])
        except OSError as error:
            credential_revoke(
                node=issued.node, prefix=issued.row.prefix, actor=command_actor()
            )  # a token that nobody got
            raise CommandError(
                f"{path} cannot be written ({error.strerror}); choose another place with --output"
            ) from error
        self.stdout.write(
            f"wrote {path} for node {issued.node}; start a worker with:"
            f" manage.py work --credential-file {path} --command '/path/to/my-agent'"
        )


def _file_arguments(parser: Any) -> None:
    parser.add_argument("--expires", metavar="90d", help="life of the token: a number with s, m, h or d")
    parser.add_argument("--output", metavar="FILE", help="default: secrets/worker-NODE.json in the data folder")
    parser.add_argument("--url", help="address of the control plane as the node reaches it")


def _address(url: str | None) -> str:
    """The address for the file; one that a worker would not speak to is refused before a token is made."""
    try:
        return check_address(url or settings.FACTORY.base_url)
    except UsageError as error:
        raise CommandError(error.message) from error


def _labels(pairs: list[str]) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not value:
            raise CommandError(f"--label {pair!r} is wrong: write --label key=value, or key=* for every value")
        labels.setdefault(key, []).append(value)
    return labels


def _life(text: str | None) -> timedelta:
    return DEFAULT_LIFE if text is None else life_given(text)


def _lists(row: dict[str, Any]) -> str:
    labels = [f"{key}={value}" for key, values in row["labels"].items() for value in values]
    parts = {
        "labels": labels,
        "adapters": row["adapters"],
        "kinds": row["workspaceKinds"],
        "repositories": row["repositories"],
    }
    words = [f"{name} {', '.join(values) or 'none'}" for name, values in parts.items()]
    return "; ".join([*words, *(["override allowed"] if row["adapterOverride"] else [])])


def _document(row: selectors.CredentialRow) -> dict[str, Any]:
    return {
        "node": row.node,
        "labels": row.allowed.labels,
        "adapters": row.allowed.adapters,
        "workspaceKinds": row.allowed.workspace_kinds,
        "repositories": row.allowed.repositories,
        "adapterOverride": row.allowed.adapter_override,
        "tokens": [
            {
                "prefix": token.prefix,
                "state": token.state.value,
                "createdAt": format_instant(token.created_at),
                "createdBy": token.created_by,
                "expiresAt": _instant(token.expires_at),
                "revokedAt": _instant(token.revoked_at),
                "revokedBy": token.revoked_by or None,
                "lastUsedAt": _instant(token.last_used_at),
                "lastUsedFrom": token.last_used_from or None,
            }
            for token in row.tokens
        ],
    }


def _instant(at: datetime | None) -> str | None:
    return format_instant(at) if at is not None else None
