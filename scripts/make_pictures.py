"""Makes the pictures of the README and of the site's first page; `make pictures` runs this.

They are what `asnets run MODEL … -o FILE.svg` draws of runs of shipped models, the same on every machine.
"""

from __future__ import annotations

from pathlib import Path

import asnets
from asnets.files import write_atomically
from asnets.pictures import draw_run

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
# The model, which is named as its family, the size of the problem and the seed of the run.
PICTURES = {"tireworld": ("triangle-tireworld", 4, 0), "towers": ("prob-blocksworld", 4, 2)}


def picture(name: str) -> str:
    """One of them as an SVG document."""
    family, size, seed = PICTURES[name]
    return draw_run(asnets.Policy.load(family), asnets.generate(family, size), seed=seed).svg


def main() -> None:
    """Writes all of them."""
    for name in PICTURES:
        path = FOLDER / f"{name}.svg"
        write_atomically(path, picture(name))
        print(path)


if __name__ == "__main__":
    main()
