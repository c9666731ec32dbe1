"""What a machine lends to agents, and which agent it names."""

import pytest

from workers.host.host_config import HostConfig, load_host_config, note_without_agent, with_agent
from workers.host.options import Options, UsageError


def config_of(folder, text):
    (folder / "host.yaml").write_text(text)
    return load_host_config(folder)


def test_a_machine_names_its_agent_for_good_and_a_flag_names_another(tmp_path, capsys):
    config = config_of(tmp_path, "command: /opt/agent --quick 'two words'\n")
    assert with_agent(Options(), config).command == ("/opt/agent", "--quick", "two words")
    assert with_agent(Options(command=("/bin/other",)), config).command == ("/bin/other",)
    assert capsys.readouterr().err == ""


def test_a_machine_without_an_agent_says_what_it_will_not_take(capsys):
    note_without_agent(with_agent(Options(), HostConfig()))
    assert "takes no reviews" in capsys.readouterr().err
    note_without_agent(Options(adapters=("command",)))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("text", "said"), [('command: "\'"', "cannot be split"), ("command: ''", "is empty")])
def test_an_agent_that_is_no_command_is_refused_with_file_and_key(tmp_path, text, said):
    with pytest.raises(UsageError, match=said) as refused:
        config_of(tmp_path, text)
    assert "host.yaml: command: " in refused.value.message
