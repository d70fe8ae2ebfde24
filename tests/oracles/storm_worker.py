"""Answers questions about explicit models by the model checker Storm, through its Python package ``stormpy``.

Run as ``python storm_worker.py`` by a Python that has ``stormpy`` 2.0.0, always in a process of its own: stormpy is
GPL-3.0. It imports nothing but ``stormpy`` and the standard library.

Protocol, one JSON object a line. First the worker prints ``{"ready": "<version>"}``. Then each job on standard input is
answered by one line. A job has

| field | what |
|---|---|
| ``drn`` or ``umb`` | a file, or |
| ``transitions``, ``labels``, ``state_rewards``, ``transition_rewards`` | files in Storm's dialect of PRISM's format |
| ``properties`` | a list of properties, such as ``Pmax=? [F "goal"]`` |
| ``exact`` | whether to compute with rational numbers (DRN only; decimal numbers are taken for what they say) |
| ``precision`` | relative, of what is computed with doubles; 1e-9 if left out |
| ``names`` | whether to read the names of actions, where the format has them; true if left out |
| ``all_states`` | whether to give values of all states too, not of the initial one alone |

and its answer ``model`` ("dtmc" or "mdp"), ``states``, ``choices``, ``transitions``, ``labels`` (how many states have
each), ``actions`` (how many choices have a name), ``build_seconds``, and for each property in ``results`` its
``value``, the sound bounds ``lower`` and ``upper`` that Storm gives (null where it has none), and ``seconds``. Numbers
are strings: that of a double reads back as the same double, an exact one is a fraction, and infinite ones are "inf". A
job that fails is answered by ``{"error": "..."}``, which does not end the worker.
"""

import json
import os
import sys
import time
from typing import Any

import stormpy
from stormpy.developer import DirectEncodingParserOptions, storage


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return repr(float(value)) if isinstance(value, int | float) else str(value)


def _build(job: dict[str, Any]) -> Any:
    if "drn" in job:
        options = DirectEncodingParserOptions()
        options.build_choice_labeling = job.get("names", True)
        build = stormpy.build_model_from_drn[stormpy.Rational if job.get("exact") else float]
        return build(job["drn"], options=options)
    if "umb" in job:
        options = storage.UmbImportOptions()
        options.build_choice_labeling = job.get("names", True)
        return stormpy.build_model_from_umb(job["umb"], options=options)
    return stormpy.build_model_from_explicit(
        job["transitions"],
        job["labels"],
        state_rewards=job.get("state_rewards"),
        transition_rewards=job.get("transition_rewards"),
    )


def _environment(model: Any, precision: float) -> Any:
    environment = stormpy.environments.default(model)
    if not model.is_exact:
        solver = environment.solver()
        for part in (solver.native(), solver.min_max()):
            part.precision = stormpy.Rational(precision)
    return environment


def _check(model: Any, text: str, environment: Any, all_states: bool) -> dict[str, Any]:
    begin = time.perf_counter()
    checked = stormpy.model_checking(model, stormpy.parse_property(text), environment=environment)
    seconds = time.perf_counter() - begin
    initial = checked[model.initial_states[0]]
    values = [_text(checked.get_value(state)) for state in range(model.nr_states)] if all_states else []
    return {
        "value": _text(initial.value),
        "lower": _text(initial.lower),
        "upper": _text(initial.upper),
        "values": values,
        "seconds": seconds,
    }


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    begin = time.perf_counter()
    model = _build(job)
    seconds = time.perf_counter() - begin
    labelling = model.labeling
    environment = _environment(model, job.get("precision", 1e-9))
    actions = 0
    if model.has_choice_labeling():
        names = model.choice_labeling  # Of which no choice has two.
        actions = sum(names.get_choices(name).get_number_of_set_bits() for name in names.get_labels())
    return {
        "model": model.model_type.name.lower(),
        "states": model.nr_states,
        "choices": model.nr_choices,
        "transitions": model.nr_transitions,
        "labels": {label: labelling.get_states(label).get_number_of_set_bits() for label in labelling.get_labels()},
        "actions": actions,
        "build_seconds": seconds,
        "results": [
            _check(model, text, environment, job.get("all_states", False)) for text in job.get("properties", [])
        ],
    }


def main() -> None:
    # Storm prints messages; answers have standard output for themselves.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    print(json.dumps({"ready": stormpy.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line))
        except Exception as error:  # Whatever Storm raises is the answer.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
