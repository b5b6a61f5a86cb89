"""Explain one criterion to the instructor: grade its component once more, seeing how that is done.

Nothing here is for a student: hidden checks are shown with calls, values and right answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from autograder.api.answer import Question, arguments_of
from autograder.api.expect import Expect, wrong_parts
from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.likeness import all_alike, tolerance_of
from autograder.api.messages import Reply, Request
from autograder.api.operations import Ask, Operation, OrdinaryAsk, Reset, Resume, handle_of
from autograder.api.patterns import place_words, worst_place
from autograder.api.values import (
    SHOWN_VALUES,
    Made,
    Named,
    Opaque,
    Value,
    array_of,
    form_of,
    kind_words,
    leaves,
    show_tensor,
    show_value,
)
from autograder.api.wording import error_words, find
from autograder.grading.messages import (
    ExplainAnswer,
    Explained,
    ExplainJob,
    TracedCall,
    UnknownCriterion,
    Unreadable,
)
from autograder.judge.begin import made_from, taken_for
from autograder.judge.component import Judge
from autograder.judge.intake import Rejected
from autograder.judge.session import UNANSWERED, NotRun, Planned
from autograder.judge.submission import grade_component
from autograder.judge.suite import Attempt
from autograder.rules.guard import PROVIDED
from autograder.sandbox.handle import ChildGone

# Lines that an answer is written out in, at most.
_SHOWN = 12


def explain_criterion(judge: Judge, job: ExplainJob) -> ExplainAnswer:
    """Grade the component of one criterion again and explain that criterion."""
    named = {c.id: c for criteria in judge.suite.criteria.values() for c in criteria}
    criterion = named.get(job.criterion)
    if criterion is None:
        return UnknownCriterion()
    try:
        found = taken_for(judge.assignment, job)
    except Rejected as rejection:
        return Unreadable(reason=str(rejection))
    spec = next(s for s in judge.assignment.components if s.name == criterion.component)
    # Graded here as there, so that an explanation cannot agree by being another procedure.
    broken = job.broken_publicly, job.broken
    component, marked = grade_component(judge, spec, found.files, job.exempt, broken, job.accepted)
    answer = Explained(
        graded=made_from(judge.assignment, found, job),
        now=next(found for found in component.criteria if found.id == criterion.id),
        status=component.status,
        component_message=component.message,
        over=[c.id for c in component.criteria if c.outcome in ("timeout", "crashed")],
    )
    attempt = marked.get(criterion.id, Attempt(criterion))
    never_ran = attempt.outcome == "not_run" and attempt.failure is None
    if never_ran or component.status in ("missing", "not_attempted", "import_error"):
        return answer
    return answer.model_copy(
        update={
            "stand_ins": list(attempt.stand_ins),
            "full": _full(attempt),
            "drawn": [f"{name} = {value!r}" for name, value in attempt.drawn.items()],
            "traced": traced(attempt, judge.suite.plans[criterion.id]),
        }
    )


def _full(attempt: Attempt) -> list[str]:
    """Return all that the check found, as a public check would say it."""
    match attempt.failure:
        case None | NotRun():
            return []
        case ChildGone() as gone:
            return [*attempt.of_cases(), gone.words]
        case failure:
            return find(failure, attempt.question).message.splitlines()


def traced(attempt: Attempt, plan: Sequence[Planned]) -> TracedCall | None:
    """Choose the call that tells most, and write it out with both answers."""
    asked = attempt.asked
    if not asked:
        return None
    rights = _rights(plan, asked)
    at = _telling(attempt, rights)
    reply, right = asked[at].reply, rights[at]
    answered = None if reply is UNANSWERED else reply
    requests = [one.request for one in asked]
    return TracedCall(
        number=at + 1,
        of=len(plan),
        call=written_call(requests[_example_at(requests, at) : at + 1]),
        answer=None if answered is None else written_answer(answered),
        right=None if right is None else written_answer(right),
        differences=[] if answered is None or right is None else differences(answered, right),
        seeded=_seeded(requests[at]),
        unlike=sum(
            right is not None and one.reply is not UNANSWERED and not _alike(one, right)
            for one, right in zip(asked, rights, strict=True)
        ),
    )


def _example_at(requests: Sequence[Request], at: int) -> int:
    """Return where the example begins that a request belongs to."""
    return max((i for i in range(at + 1) if requests[i].resets), default=0)


def _rights(plan: Sequence[Planned], asked: Sequence[Planned]) -> list[Reply | None]:
    """Return the solution's replies, where it was asked the same since an example began."""
    found = dict(zip(_since_resets(plan), (planned.reply for planned in plan), strict=True))
    return [found.get(frames) for frames in _since_resets(asked)]


def _since_resets(asked: Sequence[Planned]) -> Iterator[tuple[bytes, ...]]:
    """Yield for each question all that was asked since its example began."""
    frames: tuple[bytes, ...] = ()
    for one in asked:
        frames = (one.frame,) if one.request.resets else (*frames, one.frame)
        yield frames


def _telling(attempt: Attempt, rights: Sequence[Reply | None]) -> int:
    """Return the call that it died over, else the first of the last example that is not right."""
    asked = attempt.asked
    if attempt.outcome == "passed":
        return 0
    if attempt.outcome in ("timeout", "crashed"):
        return next((at for at, one in enumerate(asked) if one.reply is UNANSWERED), 0)
    start = _example_at([one.request for one in asked], len(asked) - 1)
    # Where values depend on random draws, other draws alone do not tell.
    for by_chance in (True, False):
        for index in range(start, len(rights)):
            right = rights[index]
            drawn = by_chance and _seeded(asked[index].request)
            if right is not None and not _alike(asked[index], right, drawn):
                return index
    return len(rights) - 1


def _seeded(request: Request) -> bool:
    return any(isinstance(op, Ask) and op.seed is not None for op in request.ops)


def _alike(asked: Planned, right: Reply, drawn: bool = False) -> bool:
    return all_alike([asked.reply], [right], [asked.request], drawn)


def written_call(requests: Sequence[Request]) -> list[str]:
    """Write out the last operation of an example and what made the module that it is about."""
    handle = handle_of(requests[-1].ops[-1]) if requests[-1].ops else None
    return [
        _operation(op)
        for request in requests
        for op in request.ops
        if not isinstance(op, Reset)
        and (request is requests[-1] or (handle == handle_of(op) is not None and _makes(op)))
    ]


def _makes(op: Operation) -> bool:
    """Return whether an operation makes or changes the object that it is about."""
    changes = "load", "to", "train", "write_given"
    return isinstance(op, Ask) and (op.into is not None or op.verb in changes)


def _operation(op: Operation) -> str:
    if isinstance(op, Resume):
        return f"what it asked of the test comes to {op.raised or _show_value(op.value)}"
    if isinstance(op, OrdinaryAsk):
        return _asked(op)
    if not isinstance(op, Ask):
        return op.kind
    of, *args = op.args
    asked = of.path.removeprefix(f"{PROVIDED}.") if isinstance(of, Named) else show_value(of)
    match op.verb, args:
        case "get", _:
            return f"{asked}.{op.name}"
        case "take", [count]:
            return f"the next {count} of {asked}"
        case "run", [arguments, stdin, files]:
            named = {"stdin": stdin} if stdin else {}
            beside = f", with files {', '.join(files)}" if files else ""
            return _call("", "the program", arguments, named) + beside
        case "load", [tensors]:
            state = [f"{key}: {_show(tensor)}" for key, tensor in tensors.items()]
            return f"{asked}.load_state_dict({{{', '.join(state)}}})"
        case "to", places:
            return f"{asked}.to({', '.join(name_of(place) for place in places if place)})"
        case "train", _:
            return _call(asked, "train", args, {})
        case "write_given", [weight]:
            return f"the embedding given to {asked} becomes {_show(weight)}"
        case "state", _:
            return f"{asked}.state_dict()"
    text = _call(asked, op.name, args, op.kwargs)
    if op.into is not None:
        text = f"object{op.into} = {text}"
    if op.seed is not None:
        text += f", after torch.manual_seed({op.seed})"
    if op.cotangent is not None:
        text += f", and gradients of (output * {_show(op.cotangent)}).sum()"
    return text


def _asked(op: OrdinaryAsk) -> str:
    """Write out what an ordinary test asks."""
    name = op.name.removeprefix(op.verb).strip()
    if op.verb in ("getattr", "import"):
        return name
    if op.verb == "call":
        return _call("", name, op.args[1:], op.kwargs)
    return _call("", op.verb, op.args, op.kwargs)


def _call(owner: str, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> str:
    """Write a call out as a question is, its tensors with dtype and shape."""
    return Question(name, arguments_of(args, kwargs), Question(owner, None)).written(_show_value)


def _show_value(value: Value) -> str:
    if isinstance(value, Made) and value.maker == "embedding":
        return f"nn.Embedding with weight {_show(*value.parts)}"
    return _show(value) if isinstance(value, torch.Tensor) else show_value(value)


def _show(tensor: Tensor) -> str:
    if tensor.device.type == "meta":
        return f"{show_tensor(tensor)} on meta"
    if tensor.numel() > SHOWN_VALUES:
        return show_tensor(tensor)
    shape = tuple(tensor.shape)
    return f"{name_of(tensor.dtype)} tensor of shape {shape}: {show_tensor(tensor)}"


def _leaves(reply: Reply) -> Iterator[tuple[str, Value]]:
    """Yield the values of a reply, one by one, with their names; keys are the student's words."""
    for _, part, value in reply.parts():
        if part.holds == "named":
            yield from ((part.words.format(key), tensor) for key, tensor in value.items())
        elif part.holds == "tensors" or isinstance(value, list | tuple):
            for number, item in enumerate(value, start=1):
                place = number if part.holds == "tensors" else f" {number}"
                yield part.words.format(place), item
        else:
            yield part.words.format(""), value


def written_answer(reply: Reply) -> list[str]:
    """Write out a reply."""
    if reply.error is not None:
        return [error_words(reply.error)]
    lines = [f"{name}: {_written(value)}" for name, value in _leaves(reply)]
    form = form_of(reply.value)
    if form not in ("tensor", "none") or not lines:
        lines.insert(0, f"returned {kind_words(reply.value)}")
    if reply.gradient not in ("not asked", "computed"):
        lines.append(f"gradients: {reply.gradient}")
    return _capped(lines)


def _written(value: Value) -> str:
    if value is None:
        return "none"
    return "no value" if isinstance(value, Opaque) else _show_value(value)


def differences(reply: Reply, right: Reply) -> list[str]:
    """Say, value by value, where an answer differs from the right one."""
    if reply.error is not None or right.error is not None:
        return []
    mine, theirs = dict(_leaves(reply)), dict(_leaves(right))
    lines: list[str] = []
    rounding: list[str] = []
    forms = [form_of(answer.value) for answer in (reply, right)]
    if forms[0] != forms[1]:
        kinds = [kind_words(answer.value) for answer in (reply, right)]
        lines.append(f"form: answered {kinds[0]}, right {kinds[1]}")
    if reply.gradient != right.gradient:
        lines.append(f"gradients: answered {reply.gradient}, right {right.gradient}")
    for name in dict.fromkeys((*theirs, *mine)):
        if name not in mine or name not in theirs:
            lines.append(f"{name}: {'not there' if name not in mine else 'not in the right one'}")
            continue
        for words, differ in _differences(mine[name], theirs[name]):
            if words:
                (lines if differ else rounding).append(f"{name}: {words}")
    return _capped(lines or rounding)


def _capped(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"and {more} more"] if more > 0 else lines


def _differences(mine: Value, right: Value) -> Iterator[tuple[str, bool]]:
    """Yield in words where two values differ, and whether by more than rounding."""
    both = isinstance(mine, torch.Tensor), isinstance(right, torch.Tensor)
    if all(both):
        yield _of_tensors(mine, right)
    elif any(both) and mine is None:
        yield "none, but there is a right one", True
    elif any(both) and right is None:
        yield "there, but none is right", True
    elif not any(isinstance(leaf, Opaque) for leaf in leaves(right)):
        for one, other, failure in wrong_parts(Expect(), mine, right, "the value"):
            yield f"{failure.fact}: answered {_written(one)}, right {_written(other)}", True


@np.errstate(all="ignore")
def _of_tensors(mine: Tensor, right: Tensor) -> tuple[str, bool]:
    if mine.shape != right.shape:
        return f"shape {tuple(mine.shape)}, right {tuple(right.shape)}", True
    names = name_of(mine.dtype), name_of(right.dtype)
    dtypes = f"dtype {names[0]}, right {names[1]}; " if names[0] != names[1] else ""
    places = [mine.device.type, right.device.type]
    if "meta" in places or not mine.numel():
        clash = f"on {places[0]}, right on {places[1]}" if places[0] != places[1] else ""
        return f"{dtypes}{clash}".removesuffix("; "), bool(dtypes or clash)

    got, want = (array_of(tensor).astype(np.complex128) for tensor in (mine, right))
    error = np.where(np.isclose(got, want, 0, 0, equal_nan=True), 0.0, np.abs(got - want))
    wrong = ~np.isclose(got, want, *tolerance_of(mine.dtype), equal_nan=True)
    at = worst_place(np.nan_to_num(error, nan=np.inf))
    largest = float(error[at])
    if not wrong.any():
        return f"{dtypes}equal except for rounding (largest error {largest:.3g})", bool(dtypes)

    values = [tensor[at].item() for tensor in (mine, right)]
    shown = [f"{value:.8g}" if isinstance(value, float) else str(value) for value in values]
    return (
        f"{dtypes}largest error {largest:.6g}{place_words(at, '')}: answered {shown[0]}, "
        f"right {shown[1]}; {wrong.sum()} of {wrong.size} values differ",
        True,
    )
