"""Pictures that people would rather look at: a policy's run as a map, as towers or step by step, and the network.

import asnets
from asnets.pictures import draw_run, draw_network, page

picture = draw_run(asnets.Policy.load("tires.asnet"), asnets.load("domain.pddl", "triangle-tire-6.pddl"))
Path("run.svg").write_text(picture.svg)
Path("run.html").write_text(page("A run", [picture.html]))
"""

from asnets.pictures.diagnosis import diagnosis_page, pictures_of_conflict
from asnets.pictures.draw import RunPicture, draw_run, picture_of
from asnets.pictures.failure import failure_page, picture_of_failure
from asnets.pictures.finding import findings_page, pictures_of_finding
from asnets.pictures.fragment import page
from asnets.pictures.frame import FramePainter
from asnets.pictures.network_picture import draw_network

__all__ = [
    "FramePainter",
    "RunPicture",
    "diagnosis_page",
    "draw_network",
    "draw_run",
    "failure_page",
    "findings_page",
    "page",
    "picture_of",
    "picture_of_failure",
    "pictures_of_conflict",
    "pictures_of_finding",
]
