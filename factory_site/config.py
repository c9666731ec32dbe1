"""Every setting of a process, typed, bounded and read once; nothing else of the product reads the environment.

A setting is taken from the environment, else from `settings.env` in the data folder, else it has the default below.
A blank value counts as unset wherever it stands. Pages of policy (`policy.yaml`) are not settings of a process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import secrets
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

SETTINGS_FILE = "settings.env"
DEFAULT_HOME = Path("var")  # below the working directory, which is the checkout for manage.py
REVIEW_WAIT_DEFAULT = timedelta(minutes=30)
HEARTBEATS_PER_LIVENESS = 3  # two lost heartbeats in a row must not cost an attempt its lease
S3_OPTIONS = frozenset({"endpoint", "region"})
S3_INSTALL = ".venv/bin/pip install --no-deps --require-hashes -r requirements-s3.lock"
ROTATED_VALUES = 2  # the value in use and its successor


class SettingsError(Exception):
    """A setting is wrong; the text is one line with the variable, the fault and the next step."""


def _iso_duration(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"P(?=\w)(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?", value.strip()):
        raise ValueError("it should be an ISO-8601 duration such as PT30M or P1D")
    return value


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _has_sound_port(value):
        raise ValueError("it should be an address such as https://factory.example.org")
    if parts.username or parts.password:
        raise ValueError("it should not hold a user name or password")
    return value.rstrip("/")


def _database_url(value: SecretStr) -> SecretStr:
    url = value.get_secret_value()
    parts = urlsplit(url)
    if parts.scheme not in {"sqlite", "postgres", "postgresql"}:
        raise ValueError("it should begin with sqlite:// or postgres://")
    if not parts.path.strip("/") or not _has_sound_port(url):
        raise ValueError("it should be sqlite:////folder/file or postgres://user:password@host:5432/name")
    return value


def _redis_url(value: SecretStr) -> SecretStr:
    url = value.get_secret_value()
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"} or not _has_sound_port(url):
        raise ValueError("it should be an address such as redis://:password@host:6379/0")
    return value


def _authority(value: Path) -> Path:
    if not value.exists():
        raise ValueError("there is no such file; it should be the certificate of your own authority")
    return value


def _artifacts_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme == "file" and parts.path.startswith("/") and not parts.netloc and not parts.query:
        return value
    query = dict(parse_qsl(parts.query))
    if parts.scheme != "s3" or not parts.hostname or parts.username or set(query) - S3_OPTIONS:
        raise ValueError("it should be file:///folder, or s3://bucket/prefix?endpoint=https://host&region=name")
    if importlib.util.find_spec("storages") is None:
        raise ValueError(f"s3: needs more packages; install them with: {S3_INSTALL}")
    return value


def _has_sound_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _rotatable(value: SecretStr) -> SecretStr:
    if len(secret_values(value)) > ROTATED_VALUES:
        raise ValueError("it should hold one value, or two separated by white space while it is rotated")
    return value


Duration = Annotated[timedelta, BeforeValidator(_iso_duration), Field(gt=timedelta(0))]
Url = Annotated[str, AfterValidator(_http_url)]
Secret = Annotated[SecretStr, AfterValidator(_rotatable)]
Rounds = Annotated[int, Field(ge=0, le=20)]


class Config(BaseSettings):
    """The settings of one process; the alias of a field is its variable."""

    model_config = SettingsConfigDict(case_sensitive=True, extra="ignore", frozen=True, env_file_encoding="utf-8")

    home: Path = Field(DEFAULT_HOME, alias="FACTORY_HOME")
    database_url: Annotated[SecretStr, AfterValidator(_database_url)] | None = Field(None, alias="DATABASE_URL")
    redis_url: Annotated[SecretStr, AfterValidator(_redis_url)] | None = Field(None, alias="REDIS_URL")
    artifacts_url: Annotated[str, AfterValidator(_artifacts_url)] | None = Field(None, alias="FACTORY_ARTIFACTS_URL")
    authority: Annotated[Path, AfterValidator(_authority)] | None = Field(None, alias="REQUESTS_CA_BUNDLE")
    sqlite_synchronous: Literal["normal", "full"] = Field("normal", alias="FACTORY_SQLITE_SYNCHRONOUS")

    liveness_seconds: int = Field(90, ge=1, alias="FACTORY_LIVENESS_SECONDS")
    heartbeat_seconds: int = Field(15, ge=1, alias="FACTORY_HEARTBEAT_SECONDS")
    reaper_seconds: int = Field(5, ge=1, alias="FACTORY_REAPER_SECONDS")

    port: int = Field(8090, ge=1, le=65535, alias="PORT")
    stated_base_url: Url | None = Field(None, alias="FACTORY_BASE_URL")

    github_token: Secret | None = Field(None, alias="GITHUB_TOKEN")
    gh_token: Secret | None = Field(None, alias="GH_TOKEN")
    github_api_url: Url = Field("https://api.github.com", alias="GITHUB_API_URL")
    stated_graphql_url: Url | None = Field(None, alias="GITHUB_GRAPHQL_URL")
    github_server_url: Url = Field("https://github.com", alias="GITHUB_SERVER_URL")
    github_webhook_secret: Secret | None = Field(None, alias="GITHUB_WEBHOOK_SECRET")
    poll_seconds: int = Field(60, ge=1, alias="FACTORY_POLL_SECONDS")

    max_rounds: int = Field(20, ge=1, le=100, alias="FACTORY_MAX_ROUNDS")
    max_ack_retries: int = Field(2, ge=0, le=1000, alias="FACTORY_MAX_ACK_RETRIES")
    review_wait_timeout: Duration = Field(REVIEW_WAIT_DEFAULT, alias="FACTORY_REVIEW_WAIT_TIMEOUT")
    review_nudge_minutes: int = Field(5, ge=1, le=1440, alias="FACTORY_REVIEW_NUDGE_MINUTES")
    agent_sla_timeout: Duration = Field(timedelta(hours=2), alias="FACTORY_AGENT_SLA_TIMEOUT")
    escalation_sla_timeout: Duration = Field(timedelta(hours=24), alias="FACTORY_ESCALATION_SLA_TIMEOUT")

    auto_merge: bool = Field(default=True, alias="FACTORY_AUTO_MERGE")
    merge_method: Literal["squash", "merge", "rebase"] = Field("squash", alias="FACTORY_MERGE_METHOD")
    merge_admin: bool = Field(default=False, alias="FACTORY_MERGE_ADMIN")
    max_ci_fix_rounds: Rounds = Field(3, alias="FACTORY_MAX_CI_FIX_ROUNDS")
    max_rebase_rounds: Rounds = Field(3, alias="FACTORY_MAX_REBASE_ROUNDS")
    max_merge_retries: Rounds = Field(5, alias="FACTORY_MAX_MERGE_RETRIES")
    mergeable_wait_timeout: Duration = Field(timedelta(minutes=30), alias="FACTORY_MERGEABLE_WAIT_TIMEOUT")
    mergeable_repoll_interval: Duration = Field(timedelta(minutes=2), alias="FACTORY_MERGEABLE_REPOLL_INTERVAL")
    max_merge_stall_rounds: Rounds = Field(5, alias="FACTORY_MAX_MERGE_STALL_ROUNDS")

    demo: bool = Field(default=False, alias="FACTORY_DEMO")

    # What was wrong and replaced by its default: sentences for the log and for doctor's `settings_invalid`.
    settings_invalid: tuple[str, ...] = Field((), init=False, exclude=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, and a stated value over a blank one."""
        del file_secret_settings  # no folder of secrets is part of the interface
        return init_settings, _Stated(settings_cls, env_settings), _Stated(settings_cls, dotenv_settings)

    @model_validator(mode="before")
    @classmethod
    def _forgive_review_wait(cls, stated: Any) -> Any:
        """Replace a malformed FACTORY_REVIEW_WAIT_TIMEOUT by its default: the one wrong value that stops nothing."""
        name = "FACTORY_REVIEW_WAIT_TIMEOUT"
        stated.pop("settings_invalid", None)  # an output, not a variable
        value = stated.get(name)
        if isinstance(value, str) and not _is_positive_duration(value):
            kept = {key: entry for key, entry in stated.items() if key != name}
            return kept | {
                "settings_invalid": (f"{name}: {value!r} is not an ISO-8601 duration such as PT30M; PT30M is used",)
            }
        return stated

    @model_validator(mode="after")
    def _liveness_outlasts_heartbeats(self) -> Self:
        least = HEARTBEATS_PER_LIVENESS * self.heartbeat_seconds
        if self.liveness_seconds < least:
            raise ValueError(
                f"FACTORY_LIVENESS_SECONDS: {self.liveness_seconds} is less than three times "
                f"FACTORY_HEARTBEAT_SECONDS ({self.heartbeat_seconds}); it should be {least} or more"
            )
        return self

    @property
    def base_url(self) -> str:
        """Address that agents and people can reach, without a slash at its end."""
        return self.stated_base_url or f"http://127.0.0.1:{self.port}"

    @property
    def github_graphql_url(self) -> str:
        """Address of the forge's GraphQL endpoint."""
        return self.stated_graphql_url or f"{self.github_api_url}/graphql"

    @property
    def forge_tokens(self) -> tuple[str, ...]:
        """Forge credentials, the one in use first; empty when none is stated."""
        return secret_values(self.github_token or self.gh_token)

    @property
    def webhook_secrets(self) -> tuple[str, ...]:
        """Secrets that a GitHub signature may be made with; empty closes the endpoint."""
        return secret_values(self.github_webhook_secret)

    @property
    def databases_url(self) -> str:
        """Address of the database, with the SQLite file in the data folder as the default."""
        return self.database_url.get_secret_value() if self.database_url else f"sqlite:///{self.home}/factory.sqlite3"

    def prepare_home(self) -> None:
        """Make the data folder, for this user alone; raises SettingsError when it cannot be written."""
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.home.stat().st_mode & 0o077:  # made by somebody else: what lies in it is for this user alone
                self.home.chmod(0o700)
            (self.home / "staticfiles").mkdir(exist_ok=True)
        except OSError as error:
            raise self._unusable_home(error) from error
        if not os.access(self.home, os.W_OK | os.X_OK):
            raise self._unusable_home(PermissionError(13, "Permission denied"))

    def secret_key(self) -> str:
        """Return the key that signs sessions: made on first use, kept with mode 0600, the same for every process."""
        path = self.home / "secret.key"
        try:
            if not path.exists():
                self._write_key(path)
            return path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise self._unusable_home(error) from error

    def _write_key(self, path: Path) -> None:
        """Link a complete file into place: of two first starts one wins, and both read the winner's key."""
        aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(50))
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
        aside.unlink()

    def _unusable_home(self, error: OSError) -> SettingsError:
        return SettingsError(
            f"FACTORY_HOME: the data folder {self.home} cannot be used ({error.strerror}); "
            "make it writable for this user, or set FACTORY_HOME to another folder"
        )


class _Stated(PydanticBaseSettingsSource):
    """The values of another source without the blank ones."""

    def __init__(self, settings_cls: type[BaseSettings], source: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self.source = source

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self.source.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        return {
            name: value.strip() if isinstance(value, str) else value
            for name, value in self.source().items()
            if not (isinstance(value, str) and not value.strip())
        }


def load_config() -> Config:
    """Read and check every setting; raises SettingsError for the first wrong one."""
    home = Path(os.environ.get("FACTORY_HOME", "").strip() or DEFAULT_HOME).expanduser().absolute()
    # The folder that holds the file cannot be named by the file.
    stated: dict[str, Any] = {"_env_file": home / SETTINGS_FILE, "FACTORY_HOME": home}
    try:
        return Config(**stated)
    except ValidationError as error:
        raise SettingsError(_sentence(error.errors()[0], home)) from error
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"FACTORY_HOME: {home / SETTINGS_FILE} cannot be read ({error}); make it readable"
        ) from error


def secret_values(secret: SecretStr | None) -> tuple[str, ...]:
    """Return the values of a secret: two while it is rotated, the one in use first; none when it is unset."""
    return tuple(secret.get_secret_value().split()) if secret else ()


def _is_positive_duration(value: str) -> bool:
    try:
        _iso_duration(value)
    except ValueError:
        return False
    return any(character in "123456789" for character in value)


def _sentence(error: ErrorDetails, home: Path) -> str:
    """Say what is wrong with which variable, and what to do; the value of a secret is not repeated."""
    fault = error["msg"].removeprefix("Value error, ")
    fault = re.sub(r"^Input ", "it ", fault)
    if error["loc"]:
        name, value = str(error["loc"][0]), error["input"]
        shown = "its value" if _is_secret(name) else repr(value)
        fault = f"{name}: {shown} is wrong: {fault}"
    return f"{fault}; correct it in the environment or in {home / SETTINGS_FILE}, then start again"


def _is_secret(name: str) -> bool:
    return any(field.alias == name and "SecretStr" in str(field.annotation) for field in Config.model_fields.values())
