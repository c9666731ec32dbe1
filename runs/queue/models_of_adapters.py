"""Which model an adapter is asked for: a named one, else the tier's of the policy, else the adapter's own default."""

from __future__ import annotations

from runs.policy import policy

TIERS = ("strong", "standard", "light")  # the order of a row of `models` in policy.yaml
OWN_DEFAULT = "default"  # the adapter's own choice


def model_for(adapter: str, *, name: str | None, tier: str | None) -> str:
    """The model to ask for; empty leaves it to the agent CLI."""
    if name:
        return name
    if not tier:
        return ""
    models = policy().models.get(adapter)
    chosen = models[TIERS.index(tier)] if models else OWN_DEFAULT
    return "" if chosen == OWN_DEFAULT else chosen
