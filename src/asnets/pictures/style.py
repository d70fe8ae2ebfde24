"""What all pictures of runs look like: colours, style sheet, how numbers are written, the SVG element."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from asnets.pictures.svg import add, add_text, number_text, shortened

_HEADLINE = 34.0
_LETTER = 7.4  # About the width of a bold letter.

# Every rule starts with the class of the picture's root element, so that a page around it keeps its own look.
STYLE = """
.asnets, .asnets text { font-family: "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; color: #1f2430 }
.asnets text { fill: #1f2430; stroke: none; font-size: 13px }
.asnets .name, .asnets text.name { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 11.5px }
.asnets text.small { fill: #545c6a; font-size: 11.5px }
.asnets text.strong { font-weight: bold }
.asnets text.halo { paint-order: stroke; stroke: #fff; stroke-width: 3px }
.asnets text.middle { text-anchor: middle }
.asnets text.end { text-anchor: end }
.asnets text.chance { fill: #00507e; font-size: 11px; font-weight: bold; text-anchor: middle;
  paint-order: stroke; stroke: #fff; stroke-width: 3px }
.asnets text.warn { fill: #a33c00 }
.asnets .road { stroke: #c5cbd6; stroke-width: 1.5; fill: none }
.asnets .tip { fill: #c5cbd6; stroke: none }
.asnets .option { stroke: #0072b2; stroke-opacity: .45; stroke-linecap: round }
.asnets .segment { stroke: #0072b2; stroke-linecap: round }
.asnets .place { fill: #fff; stroke: #8a93a3; stroke-width: 1.5 }
.asnets .spare { fill: #fff; stroke: #4a5160 }
.asnets .used { fill: #fff; stroke: #8a93a3; stroke-width: 1.5; stroke-dasharray: 2 2 }
.asnets .goal { fill: none; stroke: #00734f; stroke-width: 2.5 }
.asnets .start { fill: none; stroke: #1f2430; stroke-width: 2.5 }
.asnets .flat { fill: #d55e00; stroke: #fff; stroke-width: 1 }
.asnets .cross { stroke: #fff; stroke-linecap: round }
.asnets .car { fill: none; stroke: #0072b2; stroke-width: 2.5 }
.asnets .table { stroke: #8a93a3; stroke-width: 2 }
.asnets .gone { stroke: #d55e00; stroke-dasharray: 3 4 }
.asnets .hand { fill: none; stroke: #1f2430; stroke-width: 2; stroke-linejoin: round }
.asnets .block rect { fill: #eef0f4; stroke: #6b7482; stroke-width: 1 }
.asnets .block text { font-size: 10.5px; text-anchor: middle }
.asnets .block.right rect { fill: #bfe6d6; stroke: #00734f }
.asnets .block.moved rect { fill: #ffd98a; stroke: #1f2430; stroke-width: 2 }
.asnets .block.dropped rect { fill: #f9c4a0; stroke: #d55e00; stroke-width: 2.5 }
.asnets .block.destroyed rect { stroke-dasharray: 3 2; fill: #fff }
.asnets .block.destroyed text { text-decoration: line-through }
.asnets .fuse { fill: #1f2430; stroke: none }
.asnets .share { fill: #c5cbd6; stroke: #fff; stroke-width: 1 }
.asnets .share.chosen, .asnets .level { fill: #0072b2 }
.asnets .level.unsure { fill: #e69f00 }
.asnets .plus { fill: #00634a } .asnets .minus { fill: #a33c00 }
"""


def percent(chance: float) -> str:
    """A probability in as many digits as tell it from 0% and 100%; a dash where it is not known (no number)."""
    if math.isnan(chance):
        return "–"
    if 0.01 <= chance <= 0.99:
        return f"{100 * chance:.0f}%"
    if chance >= 0.9995:
        return "100%"
    return f"{100 * chance:.1f}%" if chance >= 0.0005 else "0%"


def new_svg(width: float, height: float, title: str, description: str) -> ElementTree.Element:
    """An empty picture with words for those who cannot see it."""
    size = {"width": number_text(width), "height": number_text(height)}
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "class": "asnets", **size})
    root.set("viewBox", f"0 0 {size['width']} {size['height']}")
    add(root, "title", text=title)
    add(root, "desc", text=description)
    return root


def standalone(root: ElementTree.Element) -> str:
    """The picture as a document of its own."""
    document = ElementTree.Element("svg", dict(root.attrib))
    width, height = (float(root.get(name, "0")) for name in ("width", "height"))
    document.set("height", number_text(height + _HEADLINE))
    document.set("viewBox", f"0 0 {number_text(width)} {number_text(height + _HEADLINE)}")
    words = [child for child in root if child.tag in ("title", "desc")]
    document.extend(words)
    add(document, "style", text=STYLE)
    add(document, "rect", width="100%", height="100%", fill="#ffffff")
    headline = shortened(root.findtext("title", ""), int(width / _LETTER))
    add_text(document, 14, 27, headline, "strong")
    body = add(document, "g", transform=f"translate(0 {number_text(_HEADLINE)})")
    body.extend(child for child in root if child not in words)
    return ElementTree.tostring(document, encoding="unicode") + "\n"
