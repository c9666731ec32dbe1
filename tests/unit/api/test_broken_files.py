"""Policy files that cannot be meant: one line that names the file, and the next step."""

import pytest

from runs.contract.errors import Invalid
from runs.policy import policy_read

BROKEN = [
    ("a: [", ""),
    ("- a\n- b\n", ""),
    ("\t", ""),
    ("a: 2026-13-45", ""),
    ("&a [*a]", ""),
    ("colour: red", "colour"),
    ("web: 7", "web"),
    ("web: {waitSlots: 0}", "web.waitSlots"),
    ("web: {waitSlots: many}", "web.waitSlots"),
    ("merging: {maxReturns: 21}", "merging.maxReturns"),
    ("merging: {squash: {body: poem}}", "merging.squash.body"),
    ("merging: {pendingChecksTimeout: PT0S}", "merging.pendingChecksTimeout"),
    ("reviewers: [{name: x, adapter: oracle}]", "reviewers.0.adapter"),
    ("forge: {maxBatch: 1}", "forge.maxBatch"),
]


@pytest.mark.parametrize(("text", "path"), BROKEN)
def test_a_broken_policy_is_one_line_with_file_key_and_next_step(tmp_path, text, path):
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(Invalid) as refused:
        policy_read(tmp_path / "policy.yaml")
    message = refused.value.message
    assert message.startswith(f"policy.yaml: {path}: " if path else "policy.yaml: ")
    assert message.endswith("manage.py sync_definitions --check")
    assert "\n" not in message


def test_a_policy_that_is_no_text_or_no_file_is_one_line(tmp_path):
    (tmp_path / "policy.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Invalid, match=r"policy\.yaml: .*--check"):
        policy_read(tmp_path / "policy.yaml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(Invalid, match=r"folder: .*--check"):
        policy_read(tmp_path / "folder")
