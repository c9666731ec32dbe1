"""The glyph of each state as a drawing on a grid of 12 by 12, so that every system shows the same picture."""

_LINE = 'fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"'
_DOT = '<circle cx="6" cy="9.8" r="1" fill="currentColor"/>'
_RING = f'<circle cx="6" cy="6" r="4.5" {_LINE}/>'


def _line(path: str) -> str:
    return f'<path d="{path}" {_LINE}/>'


def _fill(path: str) -> str:
    return f'<path d="{path}" fill="currentColor"/>'


GLYPHS = {
    "◌": f'<circle cx="6" cy="6" r="4.5" {_LINE} stroke-dasharray="1.6 2.2"/>',
    "○": _RING,
    "●": '<circle cx="6" cy="6" r="4.5" fill="currentColor"/>',
    "◉": f'{_RING}<circle cx="6" cy="6" r="2.2" fill="currentColor"/>',
    "◎": f'{_RING}<circle cx="6" cy="6" r="1.9" {_LINE}/>',
    "◐": f"{_RING}{_fill('M6 1.5a4.5 4.5 0 0 0 0 9z')}",
    "◔": f"{_RING}{_fill('M6 1.5A4.5 4.5 0 0 1 10.5 6H6z')}",
    "◷": f"{_RING}{_line('M6 3.2V6l2 1.4')}",
    "▤": _line("M2 2.5h8M2 6h8M2 9.5h8"),
    "⌕": f'<circle cx="5" cy="5" r="3.2" {_LINE}/>{_line("M7.5 7.5 10.5 10.5")}',
    "✓": _line("M2 6.5 4.8 9.3 10 3"),
    "✕": _line("M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5"),
    "⊘": f"{_RING}{_line('M3 9 9 3')}",
    "⊕": f"{_RING}{_line('M6 3.6v4.8M3.6 6h4.8')}",
    "⊖": f"{_RING}{_line('M3.6 6h4.8')}",
    "–": _line("M2.5 6h7"),
    "→": _line("M1.5 6h8.5M7 2.8 10.2 6 7 9.2"),
    "⇉": _line("M1.5 3.5h7M1.5 8.5h7M7 1.5l2.4 2L7 5.5M7 6.5l2.4 2L7 10.5"),
    "⚑": f"{_line('M2.5 1.2v9.6')}{_fill('M2.5 1.5h7.2L7.6 4.2l2.1 2.7H2.5z')}",
    "⧗": _line("M2.5 1.5h7M2.5 10.5h7M3.4 1.5c0 3 5.2 6 5.2 9M8.6 1.5c0 3-5.2 6-5.2 9"),
    "⋈": _line("M1.5 2.5v7L10.5 2.5v7z"),
    "!": f"{_line('M6 1.8v5')}{_DOT}",
    "?": f"{_line('M3.8 3.8a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5')}{_DOT}",
    "+": _line("M6 2v8M2 6h8"),
    "↻": _line("M10 6a4 4 0 1 1-1.2-2.9M10 1.5v2.4H7.6"),
    "⇡": _line("M6 10.5v-9M3 4.5l3-3 3 3"),
    "⤴": _line("M2 9.5h3.5a3 3 0 0 0 3-3V2.5M6 4.8l2.5-2.5L11 4.8"),
    "⚒": _line("M2.5 10l5-5M5.2 2.8 9.2 6.8M6.8 1.8l3.4 3.4"),
    "‖": _line("M4 2.5v7M8 2.5v7"),
}


def glyph_svg(glyph: str) -> str:
    """The drawing of a glyph as SVG, hidden from screen readers: the word beside it says the same."""
    inner = GLYPHS.get(glyph, '<circle cx="6" cy="6" r="2" fill="currentColor"/>')
    size = 'viewBox="0 0 12 12" width="12" height="12"'
    return f'<svg class="glyph" {size} aria-hidden="true" focusable="false">{inner}</svg>'
