"""What notebooks show of tasks, policies, runs and their results: one small piece of HTML each.

Text is escaped, lists are cut, and nothing is loaded from elsewhere. Colours come from the notebook, light or dark.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from asnets.api import Policy
from asnets.evaluation.evaluate import Evaluation
from asnets.evaluation.rollouts import ENDING_WORDS, ENDINGS, Ending, Simulation
from asnets.evaluation.runs import Run, RunStep
from asnets.evaluation.statistics import wilson_interval_95
from asnets.grounding import GroundTask
from asnets.grounding.cost_summary import CostSummary
from asnets.network.weights import num_parameters
from asnets.pictures.draw import RunPicture, picture_of
from asnets.pictures.html_view import Facts, HtmlView, cut, decimal
from asnets.pictures.style import percent
from asnets.policies import SavedPolicy
from asnets.simulator import State
from asnets.solving import Solved
from asnets.testing.result import PolicyTest
from asnets.training.history import History
from asnets.verification.result import NUMBERS, Verification
from asnets.words import count

MAX_PICTURE = 1_000_000
"""Characters of the largest picture of a run that a notebook gets."""
_MAX_DRAWN_ACTIONS = 30_000
_MAX_STEPS = 20
_MAX_ATOMS = 24
_MAX_EPOCHS = 10
_COLOURS: dict[Ending, str] = {
    "goal": "#009e73",
    "dead_end": "#d55e00",
    "step_limit": "#e69f00",
    "loop": "#cc79a7",
    "gave_up": "#0072b2",
    "stopped": "#999999",
}


@singledispatch
def view_of(thing: object) -> str:
    """What a notebook shows of a thing, by its class."""
    raise TypeError(f"there is no view of {type(thing).__name__}")


@view_of.register
def _(task: GroundTask) -> str:
    """A ground task: how large it is, what it asks for, and its schemas."""
    costs = "unit: 1 an action" if task.cost_mode == "unit" else f"from the metric: {CostSummary.of(task)} an action"
    view = HtmlView(f"{task.problem} of {task.domain}", "task")
    view.facts(
        [
            ("propositions", f"{task.num_propositions:,}, {len(task.propositions_of()):,} of them true at first"),
            ("actions", f"{task.num_actions:,} of {count(len(task.schemas), 'schema')}"),
            ("costs", costs),
            ("objects", f"{len(task.objects):,}: {cut(task.objects)}"),
            ("goal", _goal(task)),
        ]
    )
    schemas = [
        (schema.name, " ".join(schema.parameters), f"{schema.num_actions:,}", cut(map(str, schema.slots)))
        for schema in task.schemas
    ]
    view.table(("schema", "parameters", "actions", "related atoms"), schemas, summary="schemas")
    return view.html()


def _goal(task: GroundTask) -> str:
    if not task.goal_is_reachable:
        return "cannot be reached, whatever is done"
    literals, clauses = task.condition_literals[task.goal], task.condition_clauses[task.goal]
    if not len(literals) and not len(clauses):
        return "holds from the beginning"
    names = (
        task.atom_name(int(literal) // 2) if literal % 2 == 0 else f"(not {task.atom_name(int(literal) // 2)})"
        for literal in literals
    )
    words = [cut(names, of=len(literals))] if len(literals) else []
    words += [count(len(clauses), "disjunction")] if len(clauses) else []
    return " and ".join(words)


@view_of.register
def _(policy: Policy) -> str:
    """A trained policy: its domain and network, and how it was trained."""
    signature, config = policy.signature, policy.config
    problems = policy.training.get("problems")
    trained_on = [problem for problem in problems if isinstance(problem, dict)] if isinstance(problems, list) else []
    domains = dict.fromkeys(_names(trained_on, "domain"))
    view = HtmlView(f"Policy of {cut(domains)}" if domains else "Policy", "network")
    view.facts(
        [
            ("schemas", cut(schema.name for schema in signature.schemas)),
            ("predicates", cut(f"{name}/{arity}" for name, arity in signature.predicates)),
            (
                "network",
                f"{config.layers_in_words} of hidden size {config.hidden}, {config.nonlinearity}, "
                f"{num_parameters(signature, config):,} parameters",
            ),
            ("reads", cut(config.features) or "no action features"),
            ("trained on", cut(_names(trained_on, "problem")) or "not known"),
            *_training_facts(policy.training),
        ]
    )
    if len(policy.history):
        _curve(view, policy.history)
    return view.html()


def _names(problems: list[dict[str, Any]], key: str) -> list[str]:
    return [name for problem in problems if isinstance(name := problem.get(key), str)]


def _training_facts(training: dict[str, Any]) -> Facts:
    """What a model file remembers, which may be anything."""
    words = []
    for key, text in (("epochs", "{:,} epochs"), ("seconds", "{:,.1f} s"), ("seed", "seed {}")):
        value = training.get(key)
        # Python does not write out every number: not those of many thousand digits.
        if isinstance(value, int | float) and abs(value) < 2**64:
            words.append("1 epoch" if (key, value) == ("epochs", 1) else text.format(value))
    facts = [("training", ", ".join(words))] if words else []
    if isinstance(training.get("ended"), str):
        facts.append(("ended by", training["ended"]))
    return facts


def _value(objective: str, value: float, remark: str) -> tuple[str, str]:
    """What a value is called under an objective, and the value."""
    return "goal probability" if objective == "maxprob" else "expected cost", decimal(value) + remark


@view_of.register
def _(result: Verification) -> str:
    """What a policy guarantees: each number with its guarantee."""
    view = HtmlView(f"{result.policy} on {result.task.problem} of {result.task.domain}", result.method)
    facts = [] if result.chain is None else [("chain", f"{result.chain.states:,} states, {result.chain.status}")]
    if result.samples is not None:
        facts.append(("runs", f"{result.samples.runs:,}, {result.samples.goals:,} of which reach the goal"))
    if result.gap is not None:
        facts.append(("cost", f"{result.gap.words} ({result.gap.guarantee})"))
    facts += [("way into failure", str(example.run.record)) for example in result.counterexamples]
    view.facts(facts)
    rows = [
        (NUMBERS.get(name, name), number.words(), number.guarantee)
        for name, number in result.all_numbers().items()
        if number.is_known
    ]
    view.table(("number", "bounds", "guarantee"), rows)
    return view.html()


@view_of.register
def _(test: PolicyTest) -> str:
    """The test of a policy: how much was decided, and groups of findings."""
    view = HtmlView(f"{test.policy} on {test.task.problem} of {test.task.domain}", "test")
    view.facts(
        [
            ("states", f"{test.states:,}, {test.decided:,} of them decided"),
            ("choice", f"as good as any in {test.as_good:,}, worse in {len(test.findings):,}"),
            *([("limits", "; ".join(test.limits))] if test.limits else []),
        ]
    )
    rows = []
    for group in test.groups:
        small = None if group.smallest is None else group.smallest.small
        size = "–" if small is None else count(small.objects, "object")
        rows.append((group.reason, group.chosen, group.better, f"{len(group.findings):,}", size))
    if rows:
        view.table(("reason", "choice", "better", "findings", "smallest"), rows)
    return view.html()


@view_of.register
def _(policy: SavedPolicy) -> str:
    """The policy of a planner."""
    origin = policy.origin
    penalty = f", penalty {origin.penalty:g}" if origin.objective == "penalty" else ""
    stopped = "" if origin.status == "converged" else "; guaranteed: the search has not converged"
    view = HtmlView(f"Policy for {policy.task.problem} of {policy.task.domain}", "table")
    view.facts(
        [
            ("found by", f"{policy.name}, ε {origin.epsilon:g}, seed {origin.seed}"),
            ("states", f"{len(policy.actions):,}"),
            _value(origin.objective, origin.value, f" ({origin.costs} costs{penalty}{stopped})"),
        ]
    )
    return view.html()


@view_of.register
def _(solved: Solved) -> str:
    """What a planner came to."""
    solver, solution = solved.solver, solved.solution
    converged = solution.status == "converged"
    stopped = "interrupted" if solution.status == "interrupted" else f"stopped by the limit on {solution.status}"
    view = HtmlView(f"{solver.task.problem} of {solver.task.domain}", "solution")
    view.facts(
        [
            ("planner", f"{solver.planner} with {solver.heuristic}"),
            ("status", "converged" if converged else stopped),
            _value(solver.objective, solution.value, "" if converged else " (not final)"),
            *([] if solution.lower is None else [("bounds", f"{solution.lower:g} to {solution.upper:g}")]),
            *([("penalty", f"{solver.penalty:g}")] if solver.objective == "penalty" else []),
            ("states", f"{solution.expanded:,} expanded, {solution.evaluated:,} evaluated"),
            ("effort", f"{solution.backups:,} backups, {solution.seconds:.2f} s, {solution.peak_memory / 1e6:,.0f} MB"),
        ]
    )
    return view.html()


@view_of.register
def _(evaluation: Evaluation) -> str:
    """Runs of a policy on a problem: coverage, cost, and why runs failed."""
    finished = evaluation.finished
    low, high = wilson_interval_95(evaluation.goals, evaluation.runs)
    view = HtmlView(f"{finished.policy} on {evaluation.task.problem} of {evaluation.task.domain}", "evaluation")
    _endings_bar(view, finished, evaluation.runs)
    facts = [
        ("goals", f"{evaluation.goals:,} of {evaluation.runs:,} runs ({percent(low)}–{percent(high)}, 95% confidence)"),
        ("mean cost", _mean_cost(finished, evaluation.task.cost_mode)),
        ("time", f"{evaluation.seconds['total']:.2f} s, seed {finished.seed}"),
    ]
    if evaluation.status != "finished":
        left = evaluation.runs - finished.episodes
        facts.append(("stopped", f"by the limit on {evaluation.status}; {count(left, 'run')} not finished"))
    view.facts(facts)
    failures = [
        (ENDING_WORDS[failure.ending], f"{failure.count:,}", failure.example) for failure in evaluation.failures
    ]
    view.table(("failure", "runs", "for example"), failures)
    return view.html()


@view_of.register
def _(simulation: Simulation) -> str:
    """Runs of a policy."""
    view = HtmlView(f"{count(simulation.episodes, 'run')} of {simulation.policy}", "simulation")
    _endings_bar(view, simulation, simulation.episodes)
    endings = [
        (ENDING_WORDS[ending], f"{simulation.count(ending):,}") for ending in ENDINGS if simulation.count(ending)
    ]
    steps = int(simulation.steps.sum())
    view.facts(
        [
            *endings,
            ("mean cost", _mean_cost(simulation)),
            ("steps", f"{steps:,} in {simulation.seconds:.2f} s, at most {simulation.max_steps:,} a run"),
            ("seed", str(simulation.seed)),
        ]
    )
    return view.html()


def _mean_cost(runs: Simulation, costs: str = "") -> str:
    if runs.mean_cost is None:
        return "no run reached the goal"
    interval = "" if runs.ci95 is None else f" ± {runs.ci95:.2f}"
    return f"{runs.mean_cost:.2f}{interval} over runs that reached the goal{f', {costs} costs' * bool(costs)}"


def _endings_bar(view: HtmlView, runs: Simulation, total: int) -> None:
    counts = {ending: runs.count(ending) for ending in ENDINGS}
    view.shares([(ENDING_WORDS[ending], counts[ending] / total, _COLOURS[ending]) for ending in ENDINGS])


@view_of.register
def _(run: Run) -> str:
    """A run: its picture, or the first steps where that would be too large."""
    task = run.policy.task
    if task.num_actions <= _MAX_DRAWN_ACTIONS:
        return view_of(picture_of(run, task))
    return _steps(run, f"{task.num_actions:,} actions")


@view_of.register
def _(picture: RunPicture) -> str:
    """A picture of a run, if it is not too large."""
    if len(picture.html) > MAX_PICTURE:
        return _steps(picture.run, count(len(picture.run.steps), "step"))
    return f'<div style="background: #fff; padding: .1rem 1rem; border-radius: 4px">{picture.html}</div>'


def _steps(run: Run, left_out: str) -> str:
    task = run.policy.task
    view = HtmlView(f"{task.problem} of {task.domain}: {run.record}", "run")
    rows = [
        (f"{index}", step.action, percent(step.probability) if step.probabilities else "–", _changes(step))
        for index, step in enumerate(run.steps[:_MAX_STEPS], 1)
    ]
    view.table(("step", "action", "probability", "changes"), rows, total=len(run.steps))
    view.note(f"{left_out}: too many for a picture here; `asnets run -o FILE.html` draws it.")
    return view.html()


def _changes(step: RunStep) -> str:
    return cut([*(f"+{name}" for name in step.added), *(f"−{name}" for name in step.deleted)]) or "none"


@view_of.register
def _(state: State) -> str:
    """A state: what is true, what can be done, and whether anything is left to do."""
    task, true, applicable = state.task, state.propositions, state.applicable
    names = cut(map(task.atom_name, map(int, true)), of=len(true), most=_MAX_ATOMS)
    actions = cut(map(task.action_name, applicable), of=len(applicable), most=_MAX_ATOMS)
    view = HtmlView(f"{task.problem} of {task.domain}", "state")
    view.facts(
        [
            ("is", "a goal" if state.is_goal else "a dead end" if state.is_dead_end else "no goal yet"),
            ("true", f"{len(true):,} of {count(task.num_propositions, 'proposition')}: {names or 'none'}"),
            ("applicable", f"{len(applicable):,} of {count(task.num_actions, 'action')}: {actions or 'none'}"),
        ]
    )
    return view.html()


@view_of.register
def _(history: History) -> str:
    """A training, epoch by epoch: the curve, and the figures of the last epochs."""
    view = HtmlView(f"Training of {count(len(history), 'epoch')}", "history")
    if not len(history):
        view.note("No epoch is known: MODEL.jsonl does not lie beside the model file.")
        return view.html()
    _curve(view, history)
    rows = [
        (
            f"{record.epoch}{' (best)' * (history.best is record)}",
            percent(record.coverage),
            "–" if record.cost is None else f"{record.cost:.3f}",
            f"{record.loss:.4f}",
            f"{record.memory:,}",
            f"{record.elapsed:.1f} s",
        )
        for record in history[-_MAX_EPOCHS:]
    ]
    headings = ("epoch", "coverage", "cost / teacher's", "loss", "memory", "elapsed")
    view.table(headings, rows, total=len(history), last=True)
    return view.html()


def _curve(view: HtmlView, history: History) -> None:
    view.curve("coverage on the training problems, by epoch", [record.coverage for record in history])
    validated = [coverage for record in history if (coverage := record.validation_coverage) is not None]
    if validated:
        view.curve("coverage on the validation problems, by epoch with validation", validated)
