"""What an agent prints: lines, bounds, and flags that survive a round trip."""

import argparse

import pytest

from runs.contract.redactor import Redactor
from workers.host import options
from workers.host.environment import EnvironmentParts, build_environment
from workers.host.process.streams import LINE_BYTES, RING_BYTES, BoundedLog, StreamPump

SECRET = "planted-secret-0123456789"


def pumped(chunks):
    lines: list[str] = []
    pump = StreamPump(Redactor({"x": [SECRET]}), None, lines.append)
    for chunk in chunks:
        pump.feed(chunk)
    pump.finish()
    return pump, lines


def test_lines_end_at_lf_only_and_the_last_needs_none():
    content = "a\u2028b\r\nc\x0bd\n\ufeffe".encode()
    assert pumped([content])[1] == pumped([bytes([byte]) for byte in content])[1] == ["a\u2028b", "c\x0bd", "\ufeffe"]


def test_invalid_bytes_and_nul_become_the_replacement_character():
    assert pumped([b"a\xff\0b\n"])[1] == ["a\ufffd\ufffdb"]


@pytest.mark.parametrize("size", [7, 4096, 65536])
def test_a_long_line_is_given_once_and_splits_no_secret(size):
    content = b"x" * (LINE_BYTES + 100) + SECRET.encode() + b"y" * LINE_BYTES + b"\nnext\n"
    chunks = [content[at : at + size * 1000] for at in range(0, len(content), size * 1000)]
    pump, lines = pumped(chunks)
    assert lines[1:] == ["next"]
    assert len(lines[0]) <= LINE_BYTES
    assert pump.oversize_lines == 1
    assert SECRET not in pump.tail.text(Redactor({"x": [SECRET]}))


def test_a_log_keeps_its_begin_and_its_redacted_end(tmp_path):
    redactor = Redactor({"x": [SECRET]})
    log = BoundedLog(tmp_path / "log", 1000, redactor, plain=True)
    pump = StreamPump(redactor, log, None)
    for number in range(60_000):
        pump.feed(f"{number:06d} {SECRET}\n".encode())
    pump.finish()
    log.close()
    content = (tmp_path / "log").read_text()
    assert content.startswith("000000 [redacted:x]\n")
    assert content.endswith("059999 [redacted:x]\n")
    assert "bytes beyond the limit" in content
    assert SECRET not in content
    assert len(content) < RING_BYTES + 2000


def test_flags_survive_the_way_through_the_command_of_the_site():
    argv = ["--label", "a=b", "--label", "c=d", "--command", "x 'y z'", "--max-runs", "3", "--drain-timeout", "5"]
    parser = argparse.ArgumentParser()
    options.add_flags(parser)
    again = options.to_argv(vars(parser.parse_args(argv)))
    assert options.parse(again) == options.parse(argv)
    assert options.parse(argv).command == ("x", "y z")


def test_an_agent_that_is_not_there_is_refused_at_the_start(tmp_path):
    agent = tmp_path / "my-agent"
    agent.write_text("#!/bin/sh\n")
    for missing in (f"{agent} --fast", "no-such-program", "/no/such/agent"):
        with pytest.raises(options.UsageError, match="is no program here"):
            options.check_program(missing)
    agent.chmod(0o755)
    for command in (None, f"{agent} --fast", "sh -c true", "./agents/of-the-checkout"):
        options.check_program(command)


@pytest.mark.parametrize(
    "name",
    ["FACTORY_HOME", "DJANGO_X", "GH_TOKEN", "SSH_AUTH_SOCK", "GIT_ASKPASS", "CLAUDECODE", "CURSOR_X", "DATABASE_URL"],
)
def test_no_part_of_an_environment_brings_a_forbidden_name_back(name):
    """AD-H12"""
    carried = {name: "value"}
    parts = EnvironmentParts(
        host=carried, contract={}, adapter=carried, passed=(name,), configured=carried, git=carried
    )
    assert name not in build_environment(parts)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "AWS_SECRET", "PYTHONPATH", "LD_PRELOAD", "ANTHROPIC_BASE_URL"])
def test_keys_and_program_changing_names_stay_only_when_they_are_passed(name):
    """AD-H12"""
    carried = {name: "value"}
    assert name not in build_environment(EnvironmentParts(host=carried, contract={}, configured=carried))
    assert build_environment(EnvironmentParts(host=carried, contract={}, passed=(name,)))[name] == "value"
