import stat
from datetime import timedelta
from pathlib import Path

import pytest

from factory_site.config import Config, SettingsError, load_config

WRONG = [
    ("REDIS_URL", "http://cache:6379"),
    ("REDIS_URL", "cache:6379"),
    ("REQUESTS_CA_BUNDLE", "/absent/authority.pem"),
    ("REDIS_URL", "redis://cache:0"),
    ("FACTORY_ARTIFACTS_URL", "s3:"),
    ("FACTORY_ARTIFACTS_URL", "s3://bucket?colour=blue"),
    ("FACTORY_ARTIFACTS_URL", "s3://key:secret@bucket"),
    ("FACTORY_ARTIFACTS_URL", "file:relative"),
    ("FACTORY_ARTIFACTS_URL", "/srv/objects"),
    ("DATABASE_URL", "mysql://root:pw@db/factory"),
    ("DATABASE_URL", "sqlite://"),
    ("DATABASE_URL", "postgres://db"),
    ("DATABASE_URL", "postgres://root:pw@db:many/factory"),
    ("FACTORY_SQLITE_SYNCHRONOUS", "off"),
    ("FACTORY_LIVENESS_SECONDS", "0"),
    ("FACTORY_HEARTBEAT_SECONDS", "0"),
    ("FACTORY_REAPER_SECONDS", "0"),
    ("PORT", "70000"),
    ("PORT", "0"),
    ("PORT", "8090.5"),
    ("FACTORY_BASE_URL", "factory.example.org"),
    ("FACTORY_BASE_URL", "http://factory.example.org:many"),
    ("GITHUB_TOKEN", "one two three"),
    ("GH_TOKEN", "one two three"),
    ("GITHUB_API_URL", "ftp://forge.example.org"),
    ("GITHUB_GRAPHQL_URL", "/graphql"),
    ("GITHUB_SERVER_URL", "https://user:pw@forge.example.org"),
    ("GITHUB_WEBHOOK_SECRET", "one two three"),
    ("FACTORY_POLL_SECONDS", "0"),
    ("FACTORY_MAX_ROUNDS", "101"),
    ("FACTORY_MAX_ACK_RETRIES", "-1"),
    ("FACTORY_REVIEW_NUDGE_MINUTES", "1441"),
    ("FACTORY_AGENT_SLA_TIMEOUT", "two hours"),
    ("FACTORY_ESCALATION_SLA_TIMEOUT", "P"),
    ("FACTORY_AUTO_MERGE", "perhaps"),
    ("FACTORY_DEMO", "maybe"),
    ("FACTORY_MERGE_METHOD", "octopus"),
    ("FACTORY_MERGE_ADMIN", "2"),
    ("FACTORY_MAX_CI_FIX_ROUNDS", "many"),
    ("FACTORY_MAX_REBASE_ROUNDS", "many"),
    ("FACTORY_MAX_MERGE_RETRIES", "many"),
    ("FACTORY_MERGEABLE_WAIT_TIMEOUT", "PT0S"),
    ("FACTORY_MERGEABLE_REPOLL_INTERVAL", "PT"),
    ("FACTORY_MAX_MERGE_STALL_ROUNDS", "21"),
]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for field in Config.model_fields.values():
        if field.alias:
            monkeypatch.delenv(field.alias, raising=False)
    monkeypatch.setenv("FACTORY_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_value_is_refused_in_one_line_that_names_it_and_the_next_step(monkeypatch, home, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as refused:
        load_config()
    sentence = str(refused.value)
    assert sentence.startswith(f"{name}: ")
    assert str(home / "settings.env") in sentence
    assert "\n" not in sentence


def test_every_setting_that_can_be_wrong_is_tried_above():
    tried = {name for name, _ in WRONG} | {"FACTORY_HOME", "FACTORY_REVIEW_WAIT_TIMEOUT"}
    assert tried == {field.alias for field in Config.model_fields.values() if field.alias}


@pytest.mark.parametrize("name", ["DATABASE_URL", "GITHUB_TOKEN", "GH_TOKEN", "GITHUB_WEBHOOK_SECRET"])
def test_a_wrong_secret_is_never_repeated(monkeypatch, name):
    monkeypatch.setenv(name, "mysql-hunter2 hunter3 hunter4")
    with pytest.raises(SettingsError) as refused:
        load_config()
    assert "hunter" not in str(refused.value)


def test_a_token_does_not_show_in_the_representation(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2")
    assert "hunter2" not in repr(load_config())


def test_a_secret_holds_two_values_while_it_is_rotated(monkeypatch):
    monkeypatch.setenv("GITHUB_WEBHOOK_SECRET", "current\t following ")
    assert load_config().webhook_secrets == ("current", "following")


def test_the_second_name_of_the_forge_token_counts_when_the_first_is_blank(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "  ")
    monkeypatch.setenv("GH_TOKEN", "token")
    assert load_config().forge_tokens == ("token",)


def test_liveness_must_outlast_three_heartbeats(monkeypatch):
    monkeypatch.setenv("FACTORY_HEARTBEAT_SECONDS", "30")
    monkeypatch.setenv("FACTORY_LIVENESS_SECONDS", "89")
    with pytest.raises(SettingsError, match=r"^FACTORY_LIVENESS_SECONDS: 89 is less than three times"):
        load_config()
    monkeypatch.setenv("FACTORY_LIVENESS_SECONDS", "90")
    assert load_config().liveness_seconds == 90


def test_the_environment_wins_over_the_file_and_a_blank_value_does_not(monkeypatch, home):
    (home / "settings.env").write_text("FACTORY_MAX_ROUNDS=7\nFACTORY_POLL_SECONDS=9\nPORT=\n")
    monkeypatch.setenv("FACTORY_MAX_ROUNDS", "8")
    monkeypatch.setenv("FACTORY_POLL_SECONDS", "  ")
    config = load_config()
    assert (config.max_rounds, config.poll_seconds, config.port) == (8, 9, 8090)


def test_a_wrong_value_in_the_file_is_refused_too(home):
    (home / "settings.env").write_text("PORT=none\n")
    with pytest.raises(SettingsError, match=r"^PORT: 'none' is wrong"):
        load_config()


@pytest.mark.parametrize("value", ["half an hour", "30", "P", "PT0M"])
def test_a_malformed_review_wait_falls_back_and_is_reported(monkeypatch, value):
    monkeypatch.setenv("FACTORY_REVIEW_WAIT_TIMEOUT", value)
    config = load_config()
    assert config.review_wait_timeout == timedelta(minutes=30)
    assert len(config.settings_invalid) == 1
    assert config.settings_invalid[0].startswith(f"FACTORY_REVIEW_WAIT_TIMEOUT: {value!r}")


def test_a_right_review_wait_is_taken_and_nothing_is_reported(monkeypatch):
    monkeypatch.setenv("FACTORY_REVIEW_WAIT_TIMEOUT", "P1DT2H")
    config = load_config()
    assert (config.review_wait_timeout, config.settings_invalid) == (timedelta(days=1, hours=2), ())


def test_the_base_url_follows_the_port(monkeypatch):
    monkeypatch.setenv("PORT", "9001")
    assert load_config().base_url == "http://127.0.0.1:9001"


def test_the_data_folder_is_for_its_owner_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("FACTORY_HOME", str(tmp_path / "deep" / "home"))
    config = load_config()
    config.prepare_home()
    assert stat.S_IMODE(config.home.stat().st_mode) == 0o700


def test_a_data_folder_that_somebody_made_beforehand_is_closed_to_others(monkeypatch, tmp_path):
    (tmp_path / "home").mkdir(mode=0o755)
    monkeypatch.setenv("FACTORY_HOME", str(tmp_path / "home"))
    load_config().prepare_home()
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_data_folder_that_is_a_file_is_refused(monkeypatch, tmp_path):
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("FACTORY_HOME", str(tmp_path / "taken"))
    with pytest.raises(SettingsError, match=r"^FACTORY_HOME: "):
        load_config().prepare_home()


def test_the_secret_key_is_made_once_and_for_its_owner_alone(home: Path):
    key = load_config().secret_key()
    assert len(key) >= 50
    assert load_config().secret_key() == key
    assert stat.S_IMODE((home / "secret.key").stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["secret.key"]
