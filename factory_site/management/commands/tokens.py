"""`manage.py tokens`: API tokens of people."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from runs.clock import now as clock_now
from runs.commands import ProductCommand, command_actor, life_given
from runs.models import ApiToken, Role, User
from runs.people import token_issue, token_revoke


class Command(ProductCommand):
    """Issue, revoke and list tokens; a token is shown once."""

    help = "Issue, revoke or list API tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        issue = verbs.add_parser("issue", help="make a token; it is printed once, as the last word")
        issue.add_argument("name")
        issue.add_argument("--role", required=True, choices=[role.value for role in Role])
        issue.add_argument("--expires", metavar="90d", help="life of the token: a number with s, m, h or d")
        issue.add_argument("--user", help="the person it acts for; default: the first admin")
        revoke = verbs.add_parser("revoke", help="make a token worthless")
        revoke.add_argument("name")
        verbs.add_parser("list", help="names, roles and dates; no secret")

    def handle(self, **options: Any) -> None:
        """Run the verb."""
        getattr(self, f"_{options['verb']}")(options)

    def _issue(self, options: dict[str, Any]) -> None:
        user = _user(options["user"])
        expires = options["expires"]
        token, secret = token_issue(
            name=options["name"],
            user=user,
            role=Role(options["role"]),
            created_by=command_actor(),
            expires_at=clock_now() + life_given(expires) if expires else None,
        )
        self.stdout.write(f"token {token.name} of {user.get_username()}, role {token.role}: {secret}")

    def _revoke(self, options: dict[str, Any]) -> None:
        token_revoke(name=options["name"])
        self.stdout.write(f"token {options['name']} is revoked")

    def _list(self, options: dict[str, Any]) -> None:
        del options
        if not ApiToken.objects.exists():
            self.stdout.write("no token; make one with: manage.py tokens issue NAME --role operator")
        for token in ApiToken.objects.select_related("user").order_by("name"):
            ends = f"expires {token.expires_at:%Y-%m-%d}" if token.expires_at else "no expiry"
            state = "revoked" if token.revoked_at else ends
            self.stdout.write(f"{token.name}  {token.user.get_username()}  {token.role}  {token.prefix}…  {state}")


def _user(name: str | None) -> User:
    users = User.objects.filter(is_active=True)
    user = users.filter(username=name).first() if name else users.filter(role=Role.ADMIN).order_by("pk").first()
    if user is None:
        raise CommandError(f"there is no person {name or 'with the role admin'}; start `manage.py serve` once")
    return user
