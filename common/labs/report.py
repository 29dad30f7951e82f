# SPDX-License-Identifier: MIT
"""Says to a learner how a check ended, where to look, and what to type next."""

import os
import re
import sys

from . import todo
from .catalogue import read
from .outcome import RACES

COLOUR = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
BOLD, GREEN, RED, DIM, PLAIN = ("\033[1m", "\033[32m", "\033[31m", "\033[2m", "\033[0m") if COLOUR else ("",) * 5

LIMITS = {
    "time": "it had not come to an end: a loop that never ends, a thread that waits for ever,\n"
            "or one thread that does the work of all",
    "memory": "it used more memory than it may",
    "output": "it printed more than it may: take out the printf that every thread executes",
    "processes": "it started more processes than it may",
}

MOST_PRINTED = 12  # lines of a learner's printf


def line(label, text):
    """One labelled entry; further lines stand below the first."""
    first, *more = text.split("\n")
    print(f"  {label:<9} {first}")
    for other in more:
        print(f"  {'':<9} {other}")


def excerpt(text, most):
    lines = [l.rstrip() for l in text.strip().split("\n")]
    return lines if len(lines) <= most else [*lines[:most], f"... ({len(lines) - most} more lines)"]


def quoted(lines):
    for text in lines:
        print(f"    {DIM}|{PLAIN} {text}")


def text_of(lab):
    return read(lab.work) if os.path.exists(lab.work) else read(lab.starter)


def barriers(text):
    return len(re.findall(r"__sync(?:threads|warp)\w*\s*\(|\bsync\s*\(", re.sub(r"//[^\n]*", "", text)))


def next_steps(lab, outcome):
    line("next", f"edit {lab.work}, then: make lab {lab.command}")
    line("", f"a hint: make hint {lab.command}")
    if os.environ.get("MAKELEVEL"):
        line("", "(what make says last, Error 1, means no more than: not yet)")


def show(lab, outcome, following=None, last=True):
    """The whole report. `following`: the lab that comes next, for after a pass; `last`: without one, say so."""
    where = ", counted by X-ray on the CPU backend" if lab.predicts else ""
    print(f"\n{BOLD}chapter {lab.chapter[:2]}, exercise {lab.number}: {lab.title}{PLAIN}{where}")
    if outcome.passed:
        orders = len([s for s in outcome.passed_schedules if s != RACES])
        tried = f" ({orders} thread orders, no race)" if RACES in outcome.passed_schedules else ""
        cases = "\n            ".join(lab.cases + outcome.speeds)
        print(f"  {GREEN}passed{PLAIN}    {cases}{tried}")
        printed(outcome, "your program printed, in the first try that prints:")
        warnings(outcome)
        line("next", f"compare with the solution: make solution {lab.command}")
        if following:
            line("", f"go on: make lab {following.command}   ({following.title})")
        elif last:
            line("", "all exercises are passed: make progress")
        return
    print(f"  {RED}not yet{PLAIN}   {outcome.case or headline(outcome)}")
    text = text_of(lab)
    line("open", f"{lab.work}:{place(lab, outcome, text)}")
    untouched = todo.untouched(read(lab.starter), text)
    if untouched and not lab.predicts:
        line("", f"the TODO in line {untouched[0]} is as it was")
    details(lab, outcome)
    warnings(outcome)
    next_steps(lab, outcome)


def printed(outcome, where):
    """What a printf of the learner's says."""
    if outcome.printed.strip():
        print(f"  {where}")
        quoted(excerpt(outcome.printed, MOST_PRINTED))


def warnings(outcome):
    if outcome.warnings:
        print("  the compiler warns:")
        quoted(excerpt(outcome.warnings, 12))


def headline(outcome):
    return {
        "build": "it does not compile",
        "changed": "something outside the TODO was changed",
        "early": "the program ended before the check did",
        "forged": f"the program {outcome.forgery}",
    }.get(outcome.verdict, "the check did not come to its end")


def place(lab, outcome, text):
    """The line to open: what the compiler or the backend named in the learner's file, else the TODO."""
    named = re.search(rf"^{re.escape(lab.work)}:(\d+)\b", outcome.output, re.M)
    if named:
        return named[1]
    for name in re.findall(r"^(\w+): (?!right$)", outcome.told.get("prediction", ""), re.M):
        for number, code in enumerate(text.split("\n"), 1):
            if re.search(rf"\b{name} *=", code):
                return number
    if outcome.verdict == "changed":
        return todo.first_difference(read(lab.starter), text)[0]
    return todo.place_to_open(read(lab.starter), text)


def details(lab, outcome):
    told = outcome.told
    if outcome.verdict == "changed":
        wanted = todo.first_difference(read(lab.starter), read(lab.work))[1]
        line("was there", wanted.strip() if wanted else "nothing more: something follows the last line")
        line("", f"only the TODO may change in a prediction; a fresh start: make reset {lab.command}")
        return
    if outcome.verdict == "build":
        quoted(excerpt(outcome.output, 20))
        if lab.check in outcome.output and not re.search(rf"^{re.escape(lab.work)}:\d+", outcome.output, re.M):
            line("likely", "the check uses a name that your file no longer has, or has with other parameters;")
            line("", f"what was changed: diff {lab.starter} {lab.work}")
        return
    if outcome.verdict in LIMITS:
        after = f"after {outcome.seconds:.0f} s " if outcome.verdict == "time" else ""
        line("stopped", after + LIMITS[outcome.verdict])
    if outcome.verdict == "crash":
        line("crash", f"ended by {outcome.signal}")
    if outcome.verdict == "early" and not outcome.backend_report():
        line("ended", f"by itself, with status {outcome.status}: nothing in an exercise may call exit")
    if "at" in told:
        line("at", told["at"] + order(outcome))
    if "wrong" in told:
        line("wrong", f"{told['wrong']}: expected {told['expected']}, got {told['actual']}")
        if "note" in told:
            line("", told["note"])
    for prediction in told.get("prediction", "").split("\n"):
        if prediction:
            line("predicted", prediction)
    if "reread" in told:
        line("read", "\n".join(dict.fromkeys(told["reread"].split("\n"))))
    if "passed" in told:
        line("right", told["passed"])
    if outcome.depends_on_order:
        line("likely", "other threads first, another result: a thread reads what another one has not yet written, or no")
        missing = barriers(read(lab.solution)) > barriers(text_of(lab)) if os.path.exists(lab.solution) else False
        asked = "Which barrier is missing? " if missing else "What orders the two? "
        line("", f"longer, or several threads write to one place. {asked}Who else writes there?")
    elif outcome.depends_on_multiprocessors:
        orders = len(outcome.passed_schedules)
        line("likely", f"right in {orders} orders of threads, and no race was found. But while races are looked for, the device")
        line("", "has one multiprocessor (SM): does something here depend on how many there are?")
    elif "likely" in told:
        line("likely", told["likely"])
    report = outcome.backend_report()
    later = f", at {told['broke_at']}" if told.get("broke_at", told.get("at")) != told.get("at") else ""
    if report:
        print(f"  the CPU backend says{later}:")
        quoted(excerpt(report, 14))
    elif "cuda" in told:
        line("CUDA", told["cuda"] + later)
        if re.search("cudaErrorInsufficientDriver|cudaErrorNoDevice", told["cuda"]):
            line("", f"there is no GPU to run on: make lab {lab.command} BACKEND=cpu")
    elif not told and outcome.output.strip():
        quoted(excerpt(without_banner(outcome.output), 20))
        return
    printed(outcome, "your program printed, in this try:")


def without_banner(text):
    """Catch2's output without its head and totals."""
    kept = [l for l in text.split("\n") if not re.match(r"^(~+|-+|=+|\.+|test cases:|assertions:|.* is a Catch|Randomness seeded to)", l)]
    return re.sub(r"\n{2,}", "\n", "\n".join(kept))


def order_name(schedule):
    kind, _, seed = schedule.partition(":")
    return f"{kind} order" + (f" {seed}" if seed else "")


def order(outcome):
    if outcome.schedule in (None, "forward", RACES):
        return ""
    return f", threads in {order_name(outcome.schedule)}"


def describe(outcome):
    """How it ended, with the reasons below."""
    order = f" (threads in {order_name(outcome.schedule)})" if outcome.schedule not in (None, "forward", RACES) else ""
    head = {
        "passed": "it passes",
        "wrong": f"it fails '{outcome.case}'",
        "build": "it does not compile",
        "crash": f"it crashes: {outcome.signal}",
        "early": f"it ends before the check does, status {outcome.status}",
        "changed": "it differs from the starter outside of the TODO",
    }.get(outcome.verdict, f"it hits the limit of {outcome.verdict}")
    reasons = [f"{key}: {value}" for key, value in outcome.told.items()]
    if outcome.verdict in ("build", "crash", "early") or (outcome.verdict == "wrong" and not reasons):
        reasons += excerpt(without_banner(outcome.output), 12)
    elif outcome.verdict == "wrong":
        reasons += outcome.summaries()[:2]
        reasons += excerpt(outcome.backend_report(), 8) if outcome.backend_report() else []
    return "\n".join([head + order, *(f"    {r}" for r in reasons)])
