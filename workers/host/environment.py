"""The environment of an agent, built from nothing: the worker's own is never copied."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

ALLOWED = ("LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER")
ALLOWED_WITHOUT_ISOLATION = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
MARKER = "FACTORY_ATTEMPT"
FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"

PROVIDER_KEYS = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "CODEX_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GENAI_API_KEY",
        "MISTRAL_API_KEY",
        "DEEPSEEK_API_KEY",
        "GROQ_API_KEY",
        "OPENROUTER_API_KEY",
        "XAI_API_KEY",
    }
)
NEVER = re.compile(
    r"FACTORY_.*|DATABASE_URL|REDIS_URL|DJANGO_.*"
    r"|GITHUB_TOKEN|GH_TOKEN|GITHUB_ENTERPRISE_TOKEN|GH_ENTERPRISE_TOKEN"
    r"|SSH_AUTH_SOCK|SSH_AGENT_PID|GIT_ASKPASS|SSH_ASKPASS"
    r"|CLAUDECODE|CLAUDE_CODE_ENTRYPOINT|ANTIGRAVITY_.*|CURSOR_.*"
)
ONLY_IF_PASSED = re.compile(
    r"ANTHROPIC_BASE_URL|OPENAI_BASE_URL|GOOGLE_GEMINI_BASE_URL"
    r"|PYTHONPATH|PYTHONSTARTUP|NODE_OPTIONS|BASH_ENV|ENV|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_.*"
    r"|AWS_.*|AZURE_.*|GOOGLE_APPLICATION_CREDENTIALS|KUBECONFIG|DOCKER_HOST"
)
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH")
SHORTEST_PASSED_SECRET = 8  # characters


@dataclass(frozen=True, slots=True)
class EnvironmentParts:
    """What an environment is made of, in the order in which later parts win."""

    host: Mapping[str, str]
    contract: Mapping[str, str]
    adapter: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    configured: Mapping[str, str] = field(default_factory=dict)
    git: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()


def build_environment(parts: EnvironmentParts) -> dict[str, str]:
    """The whole environment; the strip comes last, so that no part brings a forbidden name back."""
    allowed = (*ALLOWED, *ALLOWED_WITHOUT_ISOLATION)
    built = {"TERM": "dumb", "PATH": FALLBACK_PATH}
    built.update({name: parts.host[name] for name in allowed if name in parts.host})
    built.update({"CI": "1", "NO_COLOR": "1"})
    built.update(parts.contract)
    built.update(parts.adapter)
    built.update({name: parts.host[name] for name in parts.passed if name in parts.host})
    built.update(parts.configured)
    built.update(parts.git)
    return {name: value for name, value in built.items() if _stays(name, value, parts)}


def passed_secrets(host: Mapping[str, str], passed: Iterable[str]) -> list[str]:
    """The values of passed variables whose name says that they are secret."""
    return [
        host[name]
        for name in passed
        if name in host and SECRET_NAME.search(name) and len(host[name]) >= SHORTEST_PASSED_SECRET
    ]


def _stays(name: str, value: str, parts: EnvironmentParts) -> bool:
    if name == MARKER:
        return True
    if NEVER.fullmatch(name) or value in parts.secrets:
        return False
    if name in PROVIDER_KEYS or ONLY_IF_PASSED.fullmatch(name):
        return name in parts.passed
    return True
