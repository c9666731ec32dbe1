"""What `manage.py` and `manage.py help` print: the commands of the product, in the order of a person's need."""

from __future__ import annotations

LISTED = {
    "begin": {
        "demo": "try the whole system offline, on throw-away data",
        "serve": "run the control plane: console, API, worker protocol, periodic passes",
        "work": "run one worker, which starts your agent: --command '/path/to/my-agent'",
        "supervise": "run the pool of this machine: workers come and go with the work",
        "up": "both in one terminal: --workers 1:3 --command '/path/to/my-agent'",
    },
    "every day": {
        "submit": "hand over a pull request: owner/repo#12, or its address",
        "status": "what is going on, and what needs a person",
        "tasks": "questions to people: list, show, answer",
        "prs": "pull requests: list, show, look now, cancel",
        "runs": "runs of agents: list, show, why; start, cancel, retry, extend; pause, resume, raise",
    },
    "look after it": {
        "doctor": "what is wrong, each with the command that mends it",
        "workers": "take a run back from its worker: release",
        "credentials": "credentials of worker nodes: issue, rotate, revoke, list",
        "tokens": "API tokens: issue, revoke, list",
        "units": "service definitions for launchd and systemd",
        "sync_definitions": "load agent definitions, prompts and schemas now",
        "verify_journal": "recompute every hash chain",
        "backup": "everything durable in one file, while the system serves",
        "restore": "put a backup back: restore FILE",
        "purge": "remove everything and begin anew",
        "prune": "remove what the policy keeps no longer: --dry-run only says what",
    },
    "develop it": {
        "test": "run the test suite",
        "docs": "print, compare or write docs/reference.md",
        "flows": "print, compare or write the diagrams of the state machines",
    },
}


def commands_text() -> str:
    """The list as it is printed; one command a line under its heading."""
    lines = ["Factory: a control plane for fleets of coding agents.", "", "Usage: manage.py COMMAND …"]
    for heading, commands in LISTED.items():
        lines += ["", f"To {heading}:" if heading != "every day" else "Every day:"]
        lines += [f"  {name:<18}{sentence}" for name, sentence in commands.items()]
    lines += [
        "",
        "Flags of one: manage.py COMMAND --help. Django's own commands: manage.py help --commands.",
        "New here? manage.py demo, and README.md.",
    ]
    return "\n".join(lines) + "\n"
