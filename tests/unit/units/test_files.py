"""The files of a service manager: what stands in them, and what never does."""

import json
import os
import plistlib
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from factory_site.serving.notify import notify_address, notify_ready
from factory_site.units.files import unit_files
from runs.contract.errors import Invalid

ROOT = Path(__file__).resolve().parents[3]
PRINT = """
import json, sys
from factory_site.units.files import unit_files
print(json.dumps(unit_files(sys.argv[1], "1:2")))
"""


def unit(text):
    parser = RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the shape that its documentation shows
    parser.read_string(text)
    return {f"{section}.{name}": value for section in parser.sections() for name, value in parser.items(section)}


def test_the_agents_of_launchd_have_their_properties():
    files = unit_files("launchd", "2:5")
    assert list(files) == ["factory.serve.plist", "factory.pool.plist", "factory-launch"]
    serve, pool = (plistlib.loads(files[f"factory.{name}.plist"].encode()) for name in ("serve", "pool"))
    assert serve["ProgramArguments"] == ["/bin/sh", "-c", 'exec "$HOME/.local/bin/factory-launch" serve']
    assert pool["ProgramArguments"] == ["/bin/sh", "-c", 'exec "$HOME/.local/bin/factory-launch" pool 2:5']
    assert (serve["ExitTimeOut"], pool["ExitTimeOut"]) == (45, 180)
    assert (serve["AbandonProcessGroup"], pool["AbandonProcessGroup"]) == (False, True)
    for each in (serve, pool):
        assert each["RunAtLoad"] is each["KeepAlive"] is True
        assert (each["ThrottleInterval"], each["Umask"]) == (10, 63)
        assert (each["LimitLoadToSessionType"], each["ProcessType"]) == ("Aqua", "Background")


def test_the_units_of_systemd_have_their_properties():
    files = unit_files("systemd", "1:2")
    serve, pool = unit(files["factory-serve.service"]), unit(files["factory-pool.service"])
    assert serve["Service.ExecStart"] == "%h/.local/bin/factory-launch serve"
    assert pool["Service.ExecStart"] == "%h/.local/bin/factory-launch pool 1:2"
    assert (serve["Service.Type"], serve["Service.NotifyAccess"], pool["Service.Type"]) == ("notify", "main", "exec")
    assert (serve["Service.KillMode"], pool["Service.KillMode"]) == ("mixed", "process")
    assert (serve["Service.TimeoutStopSec"], pool["Service.TimeoutStopSec"]) == ("45", "180")
    assert pool["Unit.Wants"] == pool["Unit.After"] == "factory-serve.service"
    assert "Unit.Requires" not in pool
    assert "Service.NoNewPrivileges" not in pool


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_finds_no_fault_with_its_units(tmp_path):
    home = tmp_path / "home"
    (home / ".local" / "bin").mkdir(parents=True)
    for name, content in unit_files("systemd", "1:2").items():
        (tmp_path / name).write_text(content.replace("%h", str(home)))
    shutil.copy(tmp_path / "factory-launch", home / ".local" / "bin" / "factory-launch")
    (home / ".local" / "bin" / "factory-launch").chmod(0o755)
    paths = [str(tmp_path / f"factory-{name}.service") for name in ("serve", "pool")]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True, timeout=60, check=False
    )
    assert [line for line in done.stderr.splitlines() if "factory-" in line] == []


@pytest.mark.parametrize("manager", ["launchd", "systemd"])
def test_two_checkouts_on_two_homes_make_the_same_bytes(tmp_path, manager):
    """PO-H13, PO-S18: and neither a path of the host nor a name of its person stands in them."""
    copy = tmp_path / "elsewhere"
    for name in ("factory_site/units", "workers/host", "runs/contract"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("factory_site", "workers", "runs"):
        shutil.copy(ROOT / name / "__init__.py", copy / name / "__init__.py")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(copy)}
    done = subprocess.run(
        [sys.executable, "-c", PRINT, manager], cwd=copy, env=environment, capture_output=True, text=True, check=True
    )
    files = unit_files(manager, "1:2")
    assert json.loads(done.stdout) == files
    for content in files.values():
        assert str(ROOT) not in content
        assert str(Path.home()) not in content or str(Path.home()) == "/"


def test_an_edited_file_is_shown_as_a_difference(tmp_path, capsys):
    """PO-S18"""
    call_command("units", "systemd", "--output", str(tmp_path / "units"))
    assert (tmp_path / "units" / "factory-launch").stat().st_mode & 0o777 == 0o755
    call_command("units", "systemd", "--output", str(tmp_path / "units"), "--check")
    edited = tmp_path / "units" / "factory-pool.service"
    edited.write_text(edited.read_text().replace("KillMode=process", "KillMode=mixed"))
    capsys.readouterr()
    with pytest.raises(CommandError, match=r"manage\.py units systemd"):
        call_command("units", "systemd", "--output", str(tmp_path / "units"), "--check")
    said = capsys.readouterr().out
    assert "-KillMode=mixed\n" in said
    assert "+KillMode=process\n" in said
    with pytest.raises(CommandError):
        call_command("units", "systemd", "--output", str(tmp_path / "nothing"), "--check")


@pytest.mark.parametrize("workers", ["0:2", "1:33", "3:1", "some"])
def test_bounds_beyond_a_service_are_refused(workers):
    with pytest.raises(Invalid, match="--workers"):
        unit_files("systemd", workers)


def test_readiness_is_told_where_systemd_asks_and_no_child_inherits_the_address(tmp_path, monkeypatch):
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(tmp_path / "notify"))
        channel.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        address = notify_address()
        assert "NOTIFY_SOCKET" not in os.environ
        notify_ready(address)
        assert channel.recv(100) == b"READY=1"
    notify_ready(notify_address())
