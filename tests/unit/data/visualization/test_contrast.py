"""Everything can be read on light and on dark ground: WCAG AA, computed from the style's own colours."""

import re

import pytest

from unnoted.data.visualization import STYLE
from unnoted.data.visualization.document_html import TYPE_COLOURS

COLOURS = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)}
TEXT, SHAPE = 4.5, 3.0
"""What WCAG 2.2 asks of text (1.4.3) and of shapes that mean something (1.4.11) at level AA."""


def luminance(colour):
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TINTS = [f"tint-{number}" for number in range(TYPE_COLOURS)]
GROUNDS = ["ground", "raised", "shown", "support", "chosen"]
PAIRS = [
    *((ink, ground, TEXT) for ink in ("ink", "soft") for ground in [*GROUNDS, *TINTS]),
    *(
        (ink, ground, TEXT)
        for ink in ("good", "bad", "link")
        for ground in ("ground", "raised", "shown", "chosen")
    ),
    *(("warn", ground, TEXT) for ground in GROUNDS),
    *(("on-primary", ground, TEXT) for ground in ("primary", "accept", "reject")),
    *(("raised", ground, TEXT) for ground in ("ink", "bad")),
    *(("raised", f"type-{number}", SHAPE) for number in range(TYPE_COLOURS)),
    *((f"type-{number}", "support", SHAPE) for number in range(TYPE_COLOURS)),
    *(("mark", ground, SHAPE) for ground in [*GROUNDS, *TINTS]),
    *(("edge", ground, SHAPE) for ground in ("ground", "raised")),
    *((edge, "line", SHAPE) for edge in ("link", "edge")),
    *(("support-edge", ground, SHAPE) for ground in ("raised", "support")),
]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast(scheme):
    found = {pair: contrast(*(COLOURS[name][scheme] for name in pair[:2])) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in found.items() if ratio < pair[2]} == {}


def test_the_measure_is_that_of_the_guideline():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # known to fail by a hair


def test_every_colour_that_is_used_is_among_those_that_are_checked():
    assert len(re.findall(r"--[\w-]+: light-dark", STYLE)) == len(COLOURS), "a colour has two values"
    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE)) - {"type", "tint"}
    assert used - {"line"} <= {name for pair in PAIRS for name in pair[:2]}  # lines between rows mean nothing
    outside = re.sub(r"light-dark\([^)]*\)", "", STYLE)
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b", outside)
