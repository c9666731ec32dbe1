import gzip
import re
from pathlib import Path

import django_htmx
import pytest

CSS = (Path(__file__).parents[3] / "static" / "console.css").read_text()
TONES = ("idle", "move", "wait", "you", "good", "bad", "off")
HTMX = "static/django_htmx/htmx-2.min.js"
GROUNDS = ("page", "surface", "sunken", "selected")


def tokens(block):
    return dict(re.findall(r"--([a-z-]+): (#[0-9A-F]{6})", block))


LIGHT = tokens(CSS.split(":root.theme-dark")[0])
DARK = tokens(CSS.split(":root.theme-dark {")[1].split("}")[0])
AUTOMATIC = tokens(CSS.split("@media (prefers-color-scheme: dark) {")[1].split("}")[0])


def light_of(colour):
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    high, low = sorted((light_of(one), light_of(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_and_mark_can_be_told_from_its_ground(theme):
    """CO-H20: text at least 4.5:1, marks and controls at least 3:1, computed from the shipped styles."""
    for ground in GROUNDS:
        for text in ("text", "dim", "accent"):
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
        assert contrast(theme["control"], theme[ground]) >= 3, ground
    assert contrast(theme["on-accent"], theme["accent"]) >= 4.5
    for tone in TONES:
        assert contrast(theme[f"{tone}-text"], theme[f"{tone}-fill"]) >= 4.5, tone
        for ground in ("page", "surface", "sunken"):
            assert contrast(theme[f"{tone}-mark"], theme[ground]) >= 3, (tone, ground)


def test_the_automatic_theme_is_the_dark_one():
    assert AUTOMATIC == DARK
    assert set(DARK) == set(LIGHT)


def test_what_a_page_loads_stays_small():
    """CO-H34: styles and scripts of any page are at most 60 KB gzipped, our own part at most 30 KB."""
    static = Path(__file__).parents[3] / "static"
    own = [static / name for name in ("console.css", "live.js", "keys.js", "forms.js")]
    brought = [static / "vendor" / "idiomorph-ext.min.js", Path(django_htmx.__file__).parent / HTMX]
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in (*own, *brought)}
    assert sum(sizes[path.name] for path in own) <= 30_000, sizes
    assert sum(sizes.values()) <= 60_000, sizes
