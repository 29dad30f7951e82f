#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Narrows the types and drops the guards of the labs' solutions, one at a time, and sees whether the check notices.

    narrowed.py [--jobs J] [--kinds K,K...] [--list] [CH[.EX]...]

CH is a chapter's number or name, EX an exercise in it: `narrowed.py 05.3`; without, all. Only what stands in place of
the starter's TODO is edited. The kinds:

    type     a variable gets a narrower type: an integer of 32, 16 or 8 bits, a float, or an int for a float; each that
             holds less is tried. Where one declaration has several variables, each is narrowed alone
    cast     a narrower type in static_cast<...>, and in std::size_t{...}
    guard    one term of a condition goes: of those that && or || joins in if, while, for and before ?; an if or a ?
             with one term always holds

Each edited solution is checked as a learner's file is, in all orders of threads. Prints a line for each: what rejected
it, or that it is accepted. An edit that the exercise's mutants list below [right], or for which RIGHT below has a
reason, counts as right and is not tried. If any is accepted, these are printed again at the end, and the status is 1.
Each of them is a gap in the check, or an edit that does not matter: then RIGHT has to say why.

--list prints the edits, and tries none. The work is done in build/labs/narrowed/. CXX names the compiler, as for make.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import re
import shutil
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "labs"))

import build  # noqa: E402
import catalogue  # noqa: E402
import edits  # noqa: E402
import outcome as outcomes  # noqa: E402
import runner  # noqa: E402
import todo  # noqa: E402
from random_edits import Change, closing, essence, mask  # noqa: E402

FOLDER = "build/labs/narrowed"
KINDS = ("type", "cast", "guard")

# What each type is narrowed to, the widest first.
WORDS = ("unsigned", "unsigned short", "unsigned char")
NARROWER = {
    "std::size_t": WORDS,
    "size_t": WORDS,
    "std::uint64_t": WORDS,
    "unsigned long long": WORDS,
    "std::uint32_t": WORDS[1:],
    "unsigned": WORDS[1:],
    "long long": ("int", "short", "float", "double"),
    "int": ("short", "signed char", "float"),
    "double": ("float", "int"),
    "float": ("int",),
}
TYPE = "|".join(re.escape(name) for name in sorted(NARROWER, key=len, reverse=True))
# `const unsigned row = ..., lane = ...;` or `unsigned i = lane;` in a for: const, the type, the first name.
DECLARED = re.compile(rf"(?<![\w:<(*&])((?:static |const |constexpr )*)({TYPE}) (?=[a-z_]\w*\s*(?:=|,|;|\[))")
IN_FOR = re.compile(rf"(?<=for \()(?:const )?({TYPE}) (?=[a-z_]\w*\s*=)")
CAST = re.compile(rf"static_cast<({TYPE})>\(|\b(std::size_t|unsigned)\{{")
CONTROL = re.compile(r"\b(if|while|for)\s*\(")
QUESTION = re.compile(r" \? ")

SMS = "an SM has room for 32 blocks; a GPU has fewer than 2^15 SMs"
THREAD = "a block has 1024 threads at most"
LANE = "a warp has 32 lanes"
MEMORY = "no array of a lab has 2^31 elements: its memory would not hold them"
WORDS_OF_BLOCKS = "2^16 blocks of 256 words: 64 MiB of pinned memory"
STEPS = "wrong, but past 2^16 steps only: they take half a minute on a CPU"
WHOLE = "whole numbers below 2^53, which a double holds"

# Edits that are right though something is narrower: (exercise, expression for `OLD => NEW`, reason).
RIGHT = (
    (".*", r"std::size_t.*=> .*\bunsigned (?!short\b|char\b)\w+ =", MEMORY),
    (".*", r"=> .*static_cast<unsigned>\((?:blockIdx\.x|gridDim\.x|blocks)\)", MEMORY),
    (".*", r"=> .*\bunsigned short (?:t|thread) = threadIdx\.x;", THREAD),
    (".*", r"=> .*\bunsigned short (?:half|count) = blockDim\.x", THREAD),
    (".*", r"=> .*\bunsigned (?:short|char) lane = (?:t|threadIdx\.x) % kWarp", LANE),
    (".*", r"=> .*\bunsigned (?:short|char) distance = kWarp / 2", LANE),
    ("00.1", r"=> (?:const )?short block = 128", "a short holds 128"),
    ("00.1", r"=> (?:const )?float block = 128", "an int that is added to it is below 2^24: 64 MiB of elements"),
    ("00.1", r"float grid =", "below 2^24 blocks: an array of 8 GiB"),
    ("03.4", r"=> double sum", "the sum of a lane passes 2^53 in rows of 2^27 elements only: 512 MiB"),
    ("04.3", r"=> .*static_cast<(?:short|float)>\(block\)", THREAD),
    ("04.3", r"=> .*(?:(?:short|float) sms =|static_cast<(?:[\w ]+>\(per_sm|unsigned(?: short)?>\(sms)\))", SMS),
    ("05.1", r"=> .*int partial\[kThreads\]", "a slot holds one int"),
    ("05.1", r"=> .*double (?:partial\[kThreads\]|sum)", WHOLE),
    ("05.1", r"=> .*for \(unsigned (?:short|char) k = 0; k < kThreads", "kThreads is 64"),
    ("06.3", r"=> .*unsigned (?:short|char) (?:half|k) =", "there are 65 taps at most"),
    ("06.3", r"=> if \(i \+ k - half < n\)", "a number without a sign that should be negative is not below n"),
    ("07.1", r"=> static_cast<unsigned short>\(div_up\(c.height", "a grid has 65,535 blocks along y at most"),
    ("08.[12]", r"=> .*for \(unsigned (?:short|char) i = 0; i < kTile", "kTile is 16"),
    ("08.4", r"=> .*unsigned (?:short|char) (?:padded =|i = 0; i < tile)", "a tile has 32 rows at most"),
    ("08.4", r"=> .*unsigned short bytes =", "8,320 at most"),
    ("08.4", r"=> static_cast<unsigned short>\(div_up\(c.height", "a grid has 65,535 blocks along y at most"),
    ("09.[14]", r"=> .*static_cast<unsigned short>\((?:div_up\((?:n|count), 256\)|blockIdx\.x)", WORDS_OF_BLOCKS),
    ("10.2", r"=> .*static_cast<unsigned (?:short|char)>\(__popc", LANE),
    ("10.4", r"=> .*unsigned short (?:seen|before|share) =", "what is below 65,521 fits in 16 bits"),
    ("11.1", r"=> double sum", WHOLE),
    ("11.3", r"=> const float key =", "a float holds each key below 2^24: 64 MiB of bins"),
    ("11.3", r"=> .*static_cast<unsigned (?:short|char)>\(__popc", LANE),
    ("12.1", r"=> .*static_cast<float>\(bytes\)", "a float holds the few bytes of a block"),
    ("12.3", r"=> .*for \((?:short|signed char) w =", "a window has eight rows at most"),
    ("12.4", r"=> .*(?:short|signed char|float) (?:best|most|count) =", "a value is below 10, a count 40 at most"),
    ("12.4", r"=> .*for \(unsigned (?:short|char) [vk] =", "there are ten values and 40 rows"),
    ("12.4", r"=> .*static_cast<[\w ]+>\((?:x\[|v\))", "a value is below 10"),
    ("13.1", r"=> .*static_cast<int>\([xy]\)", MEMORY),
    ("13.3", r"=> .*(?:float (?:x|y|column|row) =|static_cast<float>\(floorf)", "below 2^24 steps"),
    ("13.3", r"=> .*(?:short (?:a|b|both)|float both) =", "parts of 256 of a pixel"),
    ("13.3", r"=> .*static_cast<int>\((?:256 - a - b \+ )?(?:both|[ab] - both)\)", "whole numbers"),
    ("13.4", r"=> .*unsigned (?:short|char) (?:warp|lane) =", "a block has 256 threads"),
    ("14.1", r"=> .*for \(unsigned (?:short|char) [lrq] =", "16 steps, 4 rows and columns"),
    ("14.4", r"=> .*unsigned short (?:all|end|tile|first|count|at) =", STEPS),
)


class Edit(Change):
    """A change of a lab's solution."""

    def __init__(self, lab, *change):
        super().__init__(*change)
        self.lab = lab
        self.shown = " => ".join(" ".join(re.sub(r"//.*", "", part).split()) for part in (self.before, self.after))

    def __str__(self):
        return f"{name_of(self.lab)}:{self.line}: {self.kind}: {self.shown}"

    def reason(self):
        """Why the edit is right, or None."""
        for exercise, pattern, why in RIGHT:
            if re.fullmatch(exercise, name_of(self.lab)) and re.search(pattern, self.shown):
                return why
        return None


def name_of(lab):
    return f"{lab.chapter[:2]}.{lab.number}"


# ---- making edits ------------------------------------------------------------------------------------------------


def parts_at(bare, start, end, separator):
    """(start, end) of the parts of bare[start:end] between separators outside of brackets."""
    at = start
    while at < end:
        if bare.startswith(separator, at):
            yield start, at
            start = at + len(separator)
        at = closing(bare, at) + 1 if bare[at] in "([{" else at + 1
    yield start, end


def type_edits(bare):
    for match in DECLARED.finditer(bare):
        before, wide = match.groups()
        _, end = next(parts_at(bare, match.end(), len(bare), ";"))
        declared = list(parts_at(bare, match.end(), end, ","))
        for narrow in NARROWER[wide]:
            for number in range(len(declared)):
                if len(declared) == 1:
                    yield "type", *match.span(2), narrow
                    continue
                statements = [
                    f"{before}{narrow if other == number else wide} {bare[first:last].strip()}"
                    for other, (first, last) in enumerate(declared)
                ]
                yield "type", match.start(), end, "; ".join(statements)
    for match in IN_FOR.finditer(bare):
        for narrow in NARROWER[match[1]]:
            yield "type", *match.span(1), narrow


def cast_edits(bare):
    for match in CAST.finditer(bare):
        if match[1]:
            for narrow in NARROWER[match[1]]:
                yield "cast", *match.span(1), narrow
            continue
        close = closing(bare, match.end() - 1)
        for narrow in NARROWER[match[2]]:
            yield "cast", match.start(), close + 1, f"static_cast<{narrow}>({bare[match.end() : close]})"


def without_terms(bare, start, end, may_hold_always):
    """Edits that take each term out of the condition bare[start:end]."""
    for joined in ("||", "&&"):
        terms = list(parts_at(bare, start, end, joined))
        if len(terms) == 1:
            continue
        for number, (first, last) in enumerate(terms):
            others = [bare[a:b].strip() for other, (a, b) in enumerate(terms) if other != number]
            yield "guard", start, end, f" {joined} ".join(others)
            # Of a term of || the parts that && joins, and the terms in brackets.
            inner = bare[first:last].strip()
            at = first + bare[first:last].index(inner)
            if inner.startswith("(") and closing(bare, at) == at + len(inner) - 1:
                at, inner = at + 1, inner[1:-1]
            yield from without_terms(bare, at, at + len(inner), False)
        return
    if may_hold_always and bare[start:end].strip():
        yield "guard", start, end, "true"


def guard_edits(bare):
    for match in CONTROL.finditer(bare):
        close = closing(bare, match.end() - 1)
        if match[1] == "for":
            clauses = list(parts_at(bare, match.end(), close, ";"))
            if len(clauses) == 3:
                first, last = clauses[1]
                blanks = len(bare[first:last]) - len(bare[first:last].lstrip())
                yield from without_terms(bare, first + blanks, last, False)
        else:
            yield from without_terms(bare, match.end(), close, match[1] == "if")
    for match in QUESTION.finditer(bare):
        # Back to what the condition is part of: a bracket that is open, an assignment, a comma, a return.
        at, depth = match.start(), 0
        while at > 0 and not (depth == 0 and bare[at - 1] in "([{,;?"):
            depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(bare[at - 1], 0)
            if depth == 0 and re.search(r"(?:(?<![=!<>])=|\breturn|\breturn|:)\s$", bare[max(0, at - 8) : at]):
                break
            at -= 1
        at += len(bare[at : match.start()]) - len(bare[at : match.start()].lstrip())
        yield from without_terms(bare, at, match.start(), True)


def all_edits(lab, kinds):
    """The edits of a solution inside of its starter's TODO, each text once; what the mutants list has is left out."""
    starter, text = catalogue.read(lab.starter), catalogue.read(lab.solution)
    bare = mask(text)
    known = {essence(text), *(essence(mutant.text) for mutant in edits.read(lab.mutants, lab.name))}
    for kind, start, end, new in (*type_edits(bare), *cast_edits(bare), *guard_edits(bare)):
        if kind not in kinds:
            continue
        edit = Edit(lab, kind, text, start, end, new)
        what = essence(edit.text)
        if what not in known and todo.bodies(starter, edit.text) is not None:
            known.add(what)
            yield edit


# ---- trying ------------------------------------------------------------------------------------------------------


def verdict(edit, builder, folder):
    """("rejected", how), ("accepted", "") or ("refused", "") when it does not compile."""
    path = f"{folder}/{edit.lab.name}.cu"
    catalogue.write(path, edit.text)
    variant = outcomes.variant_of(edit.lab, "cpu")
    built, _ = builder.build(edit.lab, path, variant, folder)
    if not built:
        return "refused", ""
    outcome = outcomes.run_check(
        edit.lab, folder, variant, outcomes.schedules_for(edit.lab, variant), runner.PROOF
    )
    if outcome.passed:
        return "accepted", ""
    told = outcome.told
    what = told.get("wrong") or ("the backend" if outcome.backend_report() else outcome.verdict)
    return "rejected", " ".join(f"{what}, {told.get('at', '')}".rstrip(", ").split())


def attempt(edit, builder):
    start = time.monotonic()
    folder = f"{FOLDER}/{os.getpid()}"
    try:
        return (*verdict(edit, builder, folder), time.monotonic() - start)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def try_edits(chosen, builder, jobs):
    """Exit status."""
    builder.prepare(*sorted({outcomes.variant_of(edit.lab, "cpu") for edit in chosen}))
    start, counts, accepted = time.monotonic(), {"rejected": 0, "accepted": 0, "refused": 0}, []
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        futures = {pool.submit(attempt, edit, builder): edit for edit in chosen}
        for future in concurrent.futures.as_completed(futures):
            edit, (what, how, seconds) = futures[future], future.result()
            counts[what] += 1
            if what == "accepted":
                accepted.append(edit)
            if what != "refused":
                shown = f"  [{how}]" if how else ""
                print(f"{'rejected' if how else 'ACCEPTED'}  {edit}{shown}  {seconds:.1f} s", flush=True)
    for edit in sorted(accepted, key=lambda e: (e.lab.chapter, e.lab.number, e.line)):
        print(f"accepted  {edit}")
    print(
        f"\n{counts['rejected'] + counts['accepted']} edits in {time.monotonic() - start:.0f} s: "
        f"{counts['rejected']} rejected, {counts['accepted']} accepted; {counts['refused']} more did not compile"
    )
    return 1 if accepted else 0


def chosen_labs(parser, arguments):
    """The exercises that are no predictions, of those that are named."""
    labs, chosen = catalogue.all_labs(), []
    for argument in arguments or [""]:
        chapter, _, exercise = argument.partition(".")
        here = [
            lab for lab in labs
            if chapter in ("", lab.chapter, lab.chapter[:2], lab.chapter[:2].lstrip("0"))
            and exercise in ("", str(lab.number), lab.name)
        ]  # fmt: skip
        if not here:
            parser.error(f"{argument}: no exercise of that name or number; expected CH or CH.EX, as in 05.3")
        chosen += [lab for lab in here if lab not in chosen]
    return [lab for lab in chosen if not lab.predicts]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--list", action="store_true", help="print the edits, and try none")
    parser.add_argument("exercises", nargs="*", metavar="CH[.EX]")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    if not set(kinds) <= set(KINDS):
        parser.error(f"--kinds {options.kinds}: there are {','.join(KINDS)}")
    if options.jobs < 1:
        parser.error("--jobs: expected 1 or more")
    labs = chosen_labs(parser, options.exercises)
    try:
        every = [edit for lab in labs for edit in all_edits(lab, kinds)]
    except edits.Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 2
    right = [edit for edit in every if edit.reason()]
    for edit in right:
        print(f"right     {edit}  [{edit.reason()}]")
    chosen = [edit for edit in every if not edit.reason()]
    if options.list:
        for edit in chosen:
            print(edit)
        print(f"\n{len(chosen)} edits to try in {len(labs)} exercises; {len(right)} more are right")
        return 0
    try:
        return try_edits(chosen, build.Builder({"CXX": os.environ.get("CXX", "")}), options.jobs)
    except build.Failure as failure:
        print(failure, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
