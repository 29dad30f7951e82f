#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes random small edits of chapters' device code, one at a time, and sees whether the chapter's tests notice.

    random_edits.py [--count N] [--seed S] [--jobs J] [--kinds K,K...] [--fences] [--list] [CH...]

CH is a chapter's number or name; without, all. The edits are spread evenly over the chapters, and over the kinds
within a chapter; one that tests/NN_name.mutants has already is never made. The kinds:

    comparison   < and <=, > and >=, == and !=
    sign         + and -, += and -=
    constant     0 and 1
    barrier      a barrier or a fence goes, an atomic's order becomes relaxed
    statement    a store or another statement goes
    index        another thread or block index, or the next one

Prints a line for each edit: what rejected it, or that it survives. An edit is rejected when a test of the chapter
fails under some schedule, or else the program's own check at one of its small sizes. With --fences, an edit of
kind `barrier` that survives both has to get past `make sanitize` too (minutes each). What does not compile is
replaced by another edit. If any survive, these are printed again at the end, as diffs, and the status is 1. Each of
them is a gap in the tests, or an edit that changes nothing: that is for a reader to say.

--list prints the edits that it would try first, and tries none. The work is done in build/random_edits/; the
chapter itself is never touched. CXX names the compiler, as for make.
"""

import argparse
import concurrent.futures
import glob
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "notes"))

import edits  # noqa: E402
import mutants  # noqa: E402
import run_tests  # noqa: E402
from cpp_declarations import closing, mask  # noqa: E402

TREES = "build/random_edits"
KINDS = ("comparison", "sign", "constant", "barrier", "statement", "index")
LEAST_LIMIT_SECONDS = 60  # a test program hangs if it takes longer, and ten times as long as without an edit

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
# A comparison or a sign between two operands has blanks around it in formatted code; a bracket of a template and
# the sign of a number have not.
COMPARISON = re.compile(r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)")
SIGN = re.compile(r"(?<=\s)(\+=|-=|\+|-)(?=\s)")
CONSTANT = re.compile(r"(?<![\w.'])([01])(?=(?:\.0*[fF]?|[uUlL]*)(?![\w.']))")
BARRIER = re.compile(
    r"(?<![\w.>:])(?:__syncthreads|__syncwarp|__threadfence(?:_block|_system)?|(?:\w+(?:\(\))?(?:\.|->))+sync"
    r"|(?:cg|cooperative_groups)::sync|(?:cuda::)?(?:std::)?atomic_thread_fence)\s*\([^;{}]*\)\s*;"
)
ORDER = re.compile(r"\bmemory_order_(?:seq_cst|acq_rel|acquire|release)\b")
INDEX = re.compile(r"\b(threadIdx|blockIdx|blockDim|gridDim)\.([xyz])\b")
PARTNERS = {"threadIdx": "blockIdx", "blockIdx": "threadIdx", "blockDim": "gridDim", "gridDim": "blockDim"}
# What begins with one of these is a declaration or a jump, and is not removed.
NO_STATEMENT = re.compile(
    r"(?:return|break|continue|goto|using|typedef|static|extern|const|constexpr|auto|struct|asm|case|default|template"
    r"|public|private|static_assert)\b|__shared__|#"
)
DECLARATION = re.compile(r"(?:unsigned |long |signed )*[\w:]+(?:<[^;=]*>)?(?:\s+[*&]*|[*&]+\s*)\w+\s*(?:[=\[{(,]|$)")
CONTROL = re.compile(r"(?:else|do)\b|(?:if\s+constexpr|if|for|while|switch)\s*\(")
BLANKS = re.compile(r"\s*")


class Change:
    """One changed place: text[start:end] becomes `new`. `before` and `after`: the lines that hold the place."""

    def __init__(self, kind, text, start, end, new):
        self.kind, self.start = kind, start
        self.text = text[:start] + new + text[end:]
        self.line = text.count("\n", 0, start) + 1
        first, behind = text.rfind("\n", 0, start) + 1, text[end:].split("\n")[0]
        self.before, self.after = text[first:end] + behind, text[first:start] + new + behind


class Edit(Change):
    """A change of the file `program`."""

    def __init__(self, chapter, program, *change):
        super().__init__(*change)
        self.chapter, self.program = chapter, program
        self.place = f"{program}:{self.line}"

    def __str__(self):
        return f"{self.place}: {self.kind}: {' => '.join(' '.join(part.split()) for part in (self.before, self.after))}"


def essence(text):
    """The text without comments, white space and empty statements: what two edits with one effect share."""
    text = re.sub(r"\s+", "", mask(text))
    while True:
        shorter = text.replace("{}", "").replace(";;", ";").replace("{;", "{").replace("};", "}")
        if shorter == text:
            return text
        text = shorter


def device_bodies(text):
    """[(start, end)] of the bodies of functions that are marked __global__ or __device__. `text` has no comments."""
    bodies = []
    for mark in re.finditer(r"\b__(?:global|device)__\b", text):
        at, parameters = mark.end(), False
        while at < len(text):
            if text[at] == "(":
                at, parameters = closing(text, at), True
            elif text[at] == "{":
                if parameters and not any(start <= at < end for start, end in bodies):
                    bodies.append((at + 1, closing(text, at)))
                break
            elif text[at] in ";=}":  # a variable, or a declaration
                break
            at += 1
    return bodies


def statements(body, start):
    """(start, end) of the statements in a body that may go, semicolon included; without what controls them."""
    begin, at = 0, 0
    while at < len(body):
        if body[at] in "([":
            at = closing(body, at)
        elif body[at] == "{" and re.search(r"(?<!\belse)(?<!\bdo)(?<=[\w>=])\s*$", body[:at]):
            at = closing(body, at)  # an initializer
        elif body[at] in "{}":
            begin = at + 1
        elif body[at] == ";":
            while True:  # past what controls it
                begin = BLANKS.match(body, begin, at).end()
                control = CONTROL.match(body, begin, at)
                if not control:
                    break
                begin = control.end() if control[0][-1] != "(" else closing(body, control.end() - 1) + 1
            statement = body[begin:at]
            if statement and not NO_STATEMENT.match(statement) and not DECLARATION.match(statement):
                yield start + begin, start + at + 1
            begin = at + 1
        at += 1


def edits_of_body(text, start, end):
    """(kind, start, end, new text) of every edit of one body; `text` has no comments."""

    def found(pattern):
        return pattern.finditer(text, start, end)

    for match in found(COMPARISON):
        yield "comparison", *match.span(), COMPARISONS[match[1]]
    for match in found(SIGN):
        yield "sign", *match.span(), SIGNS[match[1]]
    for match in found(CONSTANT):
        yield "constant", *match.span(), "1" if match[1] == "0" else "0"
    barriers = [match.span() for match in found(BARRIER)]
    for span in barriers:
        yield "barrier", *span, "{}"
    for match in found(ORDER):
        yield "barrier", *match.span(), "memory_order_relaxed"
    for span in statements(text[start:end], start):
        if not any(first < span[1] and span[0] < last for first, last in barriers):
            yield "statement", *span, "{}"
    for match in found(INDEX):
        name, axis = match.groups()
        yield "index", *match.span(), f"{PARTNERS[name]}.{axis}"
        yield "index", *match.span(), f"{name}.{'y' if axis == 'x' else 'x'}"
        if name.endswith("Idx"):
            yield "index", *match.span(), f"({match[0]} + 1)"


def all_edits(chapter):
    """Every edit of a chapter's device code that its list of mutants does not have."""
    known = set()
    listed = f"tests/{chapter}.mutants"
    if os.path.exists(listed):
        known = {(mutant.program, essence(mutant.text)) for mutant in edits.read(listed)}
    for program in sorted(path for pattern in ("*.cu", "*.cuh", "experiments/*.cu") for path in glob.glob(f"chapters/{chapter}/{pattern}")):
        text = pathlib.Path(program).read_text(encoding="utf-8")
        bare = mask(text)
        for start, end in device_bodies(bare):
            for kind, *place, new in edits_of_body(bare, start, end):
                edit = Edit(chapter, program, kind, text, *place, new)
                if not known or (program, essence(edit.text)) not in known:
                    yield edit


def in_turns(choices, random_numbers, kinds):
    """The edits in the order in which they are tried: in each turn one of every kind, drawn at random."""
    of_kind = {kind: [edit for edit in choices if edit.kind == kind] for kind in kinds}
    for drawn in of_kind.values():
        random_numbers.shuffle(drawn)
    ordered = []
    while any(of_kind.values()):
        turn = [kind for kind in kinds if of_kind[kind]]
        random_numbers.shuffle(turn)
        ordered += [of_kind[kind].pop() for kind in turn]
    return ordered


# ---- trying ------------------------------------------------------------------------------------------------------


class Judge:
    """Says of a tree whether its chapter is rejected, and by what."""

    def __init__(self, fences):
        self.fences = fences
        self.limit = {}  # seconds, by chapter

    def make(self, tree, verb, chapter):
        return mutants.run(tree, "make", "-j1", verb, "BACKEND=cpu", f"CH={chapter}")

    def tests(self, tree, chapter, schedule):
        """None when all tests pass, else the first that fails."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", prefix="results.") as results:
            status = mutants.run(
                tree, f"build/cpu/tests/{chapter}.test", "--abort", limit=self.limit.get(chapter),
                TEST_RESULTS=results.name, **run_tests.setting_of(schedule),
            )  # fmt: skip
            lines = [line.rstrip("\n").split("\t", 1) for line in results]
        if status == 0:
            return None
        failed = next((name for what, name in lines if what == "failed"), None)
        running = lines[-1][1] if lines and lines[-1][0] == "started" else None
        why = "hangs" if status == 124 else "crashes"
        return f'"{failed}"' if failed else f'"{running}" {why}' if running else f"status {status}"

    def program(self, tree, chapter):
        """None when the program's own checks pass at its small sizes, else the options of the run where they do not."""
        if self.make(tree, "build", chapter) != 0:
            return "its build"
        small = subprocess.run(
            ["common/tools/run/settings.sh", "small", chapter],
            cwd=tree, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        for options in small.stdout.splitlines():
            if mutants.run(tree, f"build/cpu/{chapter}", *options.split(), limit=self.limit.get(chapter)) != 0:
                return options
        return None

    def verdict(self, tree, chapter, kind=""):
        """(compiles?, rejected?, how)"""
        if self.make(tree, "test-programs", chapter) != 0:
            return False, False, "does not compile"
        for schedule in run_tests.USUAL:
            failed = self.tests(tree, chapter, schedule)
            if failed:
                return True, True, f"{failed}, {schedule}"
        failed = self.program(tree, chapter)
        if failed is not None:
            return True, True, f"the program's own check: {failed or 'without options'}"
        if self.fences and kind == "barrier" and self.make(tree, "sanitize", chapter) != 0:
            return True, True, "make sanitize"
        return True, False, "survives"


def next_edit(queues, taken, count):
    """The next edit, of the chapter that had the fewest; None when `count` are taken or none is left. `taken`: how many
    of each chapter have compiled or are being tried."""
    left = [chapter for chapter, queue in queues.items() if queue]
    if not left or sum(taken.values()) >= count:
        return None
    chapter = min(left, key=taken.get)
    taken[chapter] += 1
    return queues[chapter].pop(0)


def try_edits(queues, count, jobs, fences):
    """Exit status."""
    judge = Judge(fences)
    # As they are, the chapters must pass, else nothing can be told; and what is compiled now serves all trees.
    for chapter in queues:
        start = time.time()
        compiles, rejected, how = judge.verdict(".", chapter, "barrier")
        if not compiles or rejected:
            print(f"{chapter} as it is: {how}", file=sys.stderr)
            return 2
        judge.limit[chapter] = max(LEAST_LIMIT_SECONDS, 10 * (time.time() - start))
    trees = mutants.prepare_trees(TREES, jobs)
    taken, running = dict.fromkeys(queues, 0), {}
    tried, refused, survivors, start = 0, 0, [], time.time()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and (edit := next_edit(queues, taken, count)):
                given = (edit.chapter, edit.kind, edit.program, edit.text)
                running[pool.submit(mutants.attempt, trees, judge.verdict, *given)] = edit
            if not running:
                break
            for future in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
                edit = running.pop(future)
                compiles, rejected, how, seconds = future.result()
                if not compiles:
                    taken[edit.chapter] -= 1
                    refused += 1
                    continue
                tried += 1
                survivors += [] if rejected else [edit]
                word, why = ("rejected", f"  [{how}]") if rejected else ("SURVIVES", "")
                print(f"{word}  {edit}{why}  {seconds:.1f} s", flush=True)
    shutil.rmtree(TREES, ignore_errors=True)
    for edit in sorted(survivors, key=lambda e: (e.program, e.start)):
        diff = edits.diff_of(edit.program, edit.text)[1:]
        print(f"\n{edit.place}: survives\n{''.join(diff)}", end="")
    few = "" if tried == count else f" ({count} were asked for)"
    print(
        f"\n{tried} edits{few} in {time.time() - start:.0f} s: {tried - len(survivors)} rejected, "
        f"{len(survivors)} survived; {refused} more did not compile"
    )
    return 1 if survivors else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--fences", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("chapters", nargs="*")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    if not set(kinds) <= set(KINDS):
        parser.error(f"--kinds {options.kinds}: there are {','.join(KINDS)}")
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs: expected 1 or more")
    chapters = [os.path.basename(path)[: -len(".test.cu")] for path in sorted(glob.glob("tests/[0-9][0-9]_*.test.cu"))]
    chapters, unknown = mutants.chosen([c for c in chapters if os.path.isdir(f"chapters/{c}")], options.chapters)
    if unknown:
        parser.error(f"{unknown}: no chapter with tests of that name or number")
    if not chapters:
        parser.error("no chapter with tests is here")
    queues = {}
    for chapter in chapters:
        try:
            queues[chapter] = in_turns(list(all_edits(chapter)), random.Random(f"{options.seed} {chapter}"), kinds)
        except edits.Wrong as wrong:
            print(wrong, file=sys.stderr)
            return 2
    if options.list:
        taken = dict.fromkeys(queues, 0)
        while edit := next_edit(queues, taken, options.count):
            print(edit)
        return 0
    os.environ["CUDA_CPU_WORKERS"] = "2"  # several edits are tried side by side
    return try_edits(queues, options.count, options.jobs, options.fences)


if __name__ == "__main__":
    sys.exit(main())
