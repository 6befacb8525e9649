# SPDX-License-Identifier: Apache-2.0
# Part of opq; see LICENSE.
"""Reads the text of a terminal with its colors from standard input, and writes it as an SVG image."""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

# Viewers may drop ordinary spaces at the ends of a text.
NO_BREAK = "\u00a0"
WIDTH, HEIGHT, MARGIN = 8.4, 18, 12
FOREGROUND, BACKGROUND = "#d6d6d6", "#16181d"
BASIC = (
    "#16181d #d7564f #6fb65e #d3a442 #5a93d8 #b577c4 #4fb0b5 #d6d6d6 "
    "#7c828d #ef7d76 #93d282 #ecc672 #86b5ef #d29be0 #7fd3d7 #ffffff"
).split()


def indexed(number):
    """The color of a number below 256."""
    if number < 16:
        return BASIC[number]
    if number < 232:
        levels = (0, 95, 135, 175, 215, 255)
        number -= 16
        return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])
    return "#" + "%02x" % (8 + 10 * (number - 232)) * 3


def change(style, codes):
    """Applies the parameters of one SGR sequence to a style."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (38, 48):
            key = "foreground" if code == 38 else "background"
            if codes.pop(0) == 5:
                style = style | {key: indexed(codes.pop(0))}
            else:
                style = style | {key: "#%02x%02x%02x" % tuple(codes[:3])}
                codes = codes[3:]
        elif code in (1, 2, 4, 7):
            style = style | {code: True}
        elif code in (39, 49):
            style = {key: value for key, value in style.items()
                     if key != ("foreground" if code == 39 else "background")}
        elif code // 10 in (3, 4, 9, 10):
            key = "foreground" if code // 10 in (3, 9) else "background"
            style = style | {key: BASIC[code % 10 + (8 if code >= 90 else 0)]}
    return style


def runs(line, style):
    """Splits a line into pieces of one style: the column, the number of cells, the style, the text."""
    column = 0
    pieces = []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            style = change(style, part[2:-1])
        elif part:
            cells = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in part)
            pieces.append((column, cells, style, part))
            column += cells
    return pieces, style


def draw(lines):
    """Writes the image."""
    columns = max(sum(cells for _, cells, _, _ in runs(line, {})[0]) for line in lines)
    width = 2 * MARGIN + columns * WIDTH
    height = 2 * MARGIN + len(lines) * HEIGHT
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">')
    print(f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    print(f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" '
          f'fill="{FOREGROUND}">')
    style = {}
    for row, line in enumerate(lines):
        pieces, style = runs(line, style)
        for column, cells, look, text in pieces:
            foreground = look.get("foreground", FOREGROUND)
            background = look.get("background", BACKGROUND)
            if look.get(7):
                foreground, background = background, foreground
            left, top = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
            if background != BACKGROUND:
                print(f'<rect x="{left:g}" y="{top:g}" width="{cells * WIDTH:g}" '
                      f'height="{HEIGHT}" fill="{background}"/>')
            if not text.strip():
                continue
            attributes = f' fill="{foreground}"' if foreground != FOREGROUND else ""
            attributes += ' font-weight="bold"' if look.get(1) else ""
            attributes += ' opacity="0.6"' if look.get(2) else ""
            attributes += ' text-decoration="underline"' if look.get(4) else ""
            print(f'<text x="{left:g}" y="{top + HEIGHT - 4.5:g}" '
                  f'textLength="{cells * WIDTH:g}"{attributes}>{escape(text.replace(" ", NO_BREAK))}</text>')
    print("</g>\n</svg>")


if __name__ == "__main__":
    draw(sys.stdin.read().rstrip("\n").split("\n"))
