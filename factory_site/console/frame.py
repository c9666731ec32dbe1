"""What stands around every page: navigation with its counts, banners, the status bar, and how a person likes it."""

from __future__ import annotations

import hashlib
import zoneinfo
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.db import connection
from django.http import HttpResponse, HttpResponseNotModified, JsonResponse
from django.utils import timezone

from factory_site import __version__
from factory_site.console.doors import SeeOther, person, signed_in
from factory_site.console.moment import moment
from factory_site.console.selectors.pulse import COUNT_LIMIT, Pulse, pulse
from factory_site.models import Theme, UserPreference
from runs.models.user import Role

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from runs.models.user import User

FORGE_AWAY = timedelta(seconds=60)  # a single request that fails is no news
CLOCKWORK_STOPPED = timedelta(seconds=30)  # the most frequent pass is due every few seconds
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
MOST_BANNERS = 2


@dataclass(frozen=True, slots=True)
class Page:
    """One entry of the navigation: its group, the letter of its chord after `g`, the name and tone of its count."""

    group: str
    name: str
    word: str
    address: str
    chord: str
    counts: str = ""
    tone: str = "you"


@dataclass(frozen=True, slots=True)
class Banner:
    """One sentence about the whole system, and what mends it: a command, or a page that a word leads to."""

    sentence: str
    command: str = ""
    address: str = ""
    word: str = ""
    tone: str = "bad"

    @property
    def sign(self) -> str:
        """The glyph of its tone."""
        return {"wait": "‖", "idle": "●"}.get(self.tone, "!")


PAGES = (
    Page("Work", "overview", "Overview", "/", "o"),
    Page("Work", "tasks", "Tasks", "/tasks/", "t", "tasks"),
    Page("Work", "pulls", "Pull requests", "/pull-requests/", "p"),
    Page("Machine", "runs", "Runs", "/runs/", "r", "runs", "idle"),
    Page("Machine", "workers", "Workers", "/workers/", "w", "workers"),
    Page("Set-up", "agents", "Agents", "/agents/", "a"),
    Page("Watch", "doctor", "Doctor", "/doctor/", "h", "doctor"),
)
ON_PHONES = 4  # pages in the bar at the bottom; the menu holds the rest


class Frame:
    """Read on first use, so that answers without a frame cost no query."""

    pages = PAGES
    version = __version__
    max_rounds = settings.FACTORY.max_rounds
    themes = Theme.choices

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.now = moment(request)

    @cached_property
    def user(self) -> User | None:
        """The signed-in person, or none on the sign-in page."""
        user = getattr(self.request, "user", None)
        return cast("User", user) if user is not None and user.is_authenticated else None

    @cached_property
    def preference(self) -> UserPreference:
        """How the person likes it; the defaults for whoever never said."""
        if self.user is None:
            return UserPreference()
        return UserPreference.objects.filter(user=self.user).first() or UserPreference(user=self.user)

    @cached_property
    def may_act(self) -> bool:
        """Whether forms are rendered."""
        return self.user is not None and self.user.may(Role.OPERATOR)

    @cached_property
    def pulse(self) -> Pulse:
        """Counts and warnings of the frame."""
        return pulse(person(self.request), self.now)

    @property
    def counts(self) -> dict[str, str]:
        """Counts beside the navigation; zero shows none."""
        seen = self.pulse
        return {
            "tasks": capped(seen.open_tasks),
            "runs": capped(seen.live_runs),
            "workers": capped(seen.lost_or_blocked),
            "doctor": capped(seen.anomalies),
        }

    @property
    def groups(self) -> list[tuple[str, list[tuple[Page, str]]]]:
        """The navigation: each group with its pages and their counts."""
        found: dict[str, list[tuple[Page, str]]] = {}
        counts = self.counts
        for page in PAGES:
            found.setdefault(page.group, []).append((page, counts.get(page.counts, "")))
        return list(found.items())

    @property
    def thumb(self) -> list[tuple[Page, str]]:
        """The bar at the bottom of a phone."""
        return [(page, self.counts.get(page.counts, "")) for page in PAGES[:ON_PHONES]]

    @property
    def title_count(self) -> str:
        """What needs this person, for the browser's title."""
        return capped(self.pulse.open_tasks)

    @property
    def banners(self) -> list[Banner]:
        """At most two sentences about the whole system, the gravest first."""
        return banners(self.pulse, self.now)[:MOST_BANNERS]

    @property
    def database(self) -> str:
        """The kind of database in words."""
        return DATABASES.get(connection.vendor, connection.vendor)

    @property
    def zone(self) -> str:
        """The zone in which instants are shown."""
        return timezone.get_current_timezone_name()


def capped(number: int) -> str:
    """A count as the navigation shows it: none for zero, and a plus where it was not counted on."""
    return f"{COUNT_LIMIT:,}+" if number > COUNT_LIMIT else f"{number:,}" if number else ""


def banners(seen: Pulse, now: datetime) -> list[Banner]:
    """Every sentence that concerns the whole system, the gravest first."""
    found = []
    if seen.last_tick is None:
        found.append(Banner("The clockwork has not ticked yet: nothing moves by itself. Start it:", "manage.py up"))
    elif now - seen.last_tick > CLOCKWORK_STOPPED:
        found.append(Banner("The clockwork has stopped: nothing moves by itself. Start it again:", "manage.py up"))
    if seen.pauses:
        more = f" (and {seen.pauses - 1} more)" if seen.pauses > 1 else ""
        sentence = f"Claims are paused for {seen.pause}{more}."
        found.append(Banner(sentence, address="/pauses/", word="Lift…", tone="wait"))
    if seen.forge_blocked_until is not None:
        until = f"{timezone.localtime(seen.forge_blocked_until):%H:%M:%S}"
        found.append(Banner(f"GitHub takes no requests of ours until {until}. What it says:", "manage.py doctor"))
    elif seen.forge_failing_since is not None and now - seen.forge_failing_since > FORGE_AWAY:
        since = f"{timezone.localtime(seen.forge_failing_since):%H:%M:%S}"
        found.append(Banner(f"GitHub has not answered since {since}. What is known:", "manage.py doctor"))
    if seen.queued and not seen.live_workers:
        found.append(Banner("No worker is alive while runs are queued. Start one:", "manage.py work"))
    if settings.FACTORY.demo:
        found.append(Banner("This is the demo: nothing here is real. For real use:", "manage.py up", tone="idle"))
    return found


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor of every template."""
    made = Frame(request)
    return {"frame": made, "now": made.now}


def zone_of_browser(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Middleware: instants in the zone that the browser named, else in UTC."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(_zone(request.COOKIES.get("zone", ""))):
            return get_response(request)

    return answer


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name or "UTC")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return zoneinfo.ZoneInfo("UTC")


@signed_in()
def pulse_view(request: HttpRequest) -> HttpResponse:
    """What the frame shows, for its own poll; 304 while nothing of it has changed."""
    made = Frame(request)
    found = {
        "counts": made.counts,
        "title": made.title_count,
        "banners": [asdict(each) for each in made.banners],
        "version": made.version,
    }
    etag = f'"{hashlib.sha256(repr(found).encode()).hexdigest()[:24]}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    return JsonResponse(found, headers={"ETag": etag})


@signed_in("POST")
def preferences(request: HttpRequest) -> HttpResponse:
    """Remember how a person likes the console, then show the page that they were on."""
    row, _ = UserPreference.objects.get_or_create(user=person(request))
    theme = request.POST.get("theme")
    if theme in Theme.values:
        row.theme = theme
    for name in ("live", "single_keys"):
        if name in request.POST:
            setattr(row, name, request.POST[name] == "on")
    row.save()
    if "HX-Request" in request.headers:
        return HttpResponse(status=204)
    back = request.POST.get("back", "/")
    return SeeOther(back if back.startswith("/") and not back.startswith("//") else "/")
