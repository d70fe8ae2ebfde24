"""Pictures of a policy's run that people would rather look at: a map, towers, or the steps of any domain.

import asnets
from asnets.pictures import draw_run, page

picture = draw_run(asnets.Policy.load("tires.asnet"), asnets.load("domain.pddl", "triangle-tire-6.pddl"))
Path("run.svg").write_text(picture.svg)
Path("run.html").write_text(page("A run", [picture.html]))
"""

from asnets.pictures.draw import RunPicture, draw_run, picture_of
from asnets.pictures.fragment import page

__all__ = ["RunPicture", "draw_run", "page", "picture_of"]
