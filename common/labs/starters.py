# SPDX-License-Identifier: MIT
"""What a check says of each starter, as a learner reads it: the example on the site's page of a chapter's labs. It is
stored in chapters/NN_name/exercises/starters.txt, and check-labs complains where a check says something else.

    labs.sh starters [CH=05]    writes these files
"""

import contextlib
import copy
import io
import os
import re

from . import outcome as outcomes, report, runner
from .catalogue import choose, read, write

PATIENT = runner.Limits(wall=600, output=4 << 20)  # a report says the same on a machine that is busy
SEED = "1"  # what is drawn, so that a check says the same in every run
COLOURS = re.compile(r"\033\[\d+m")
PART = re.compile(r"^\[(\w+)\]\n(.*?)(?=^\[|\Z)", re.M | re.S)


def file_of(chapter):
    return f"chapters/{chapter}/exercises/starters.txt"


def stored(chapter):
    """{exercise: report}"""
    path = file_of(chapter)
    return {name: text.strip("\n") for name, text in PART.findall(read(path))} if os.path.exists(path) else {}


def said_of(lab, folder, variant):
    """The report about a starter whose check is built in `folder`, up to what a learner can type next."""
    drawn, outcomes.SEED = outcomes.SEED, SEED
    try:
        outcome = outcomes.run_and_explain(lab, folder, variant, PATIENT)
    finally:
        outcomes.SEED = drawn
    itself = copy.copy(lab)
    itself.work = lab.starter  # a learner's copy may be there, and other
    with contextlib.redirect_stdout(io.StringIO()) as told:
        report.show(itself, outcome)
    text = COLOURS.sub("", told.getvalue()).strip("\n").replace(lab.starter, lab.work)
    return text.split("\n  next ")[0]


def complaint(lab, folder, variant):
    """What is wrong with what is stored of this starter, '' for nothing."""
    said, known = said_of(lab, folder, variant), stored(lab.chapter).get(lab.name)
    if said == known:
        return ""
    return f"{file_of(lab.chapter)} does not have what the check says of it; run: common/labs/labs.sh starters CH={lab.chapter}\n{said}"


def main(labs, settings, builder):
    chosen = choose(labs, settings.get("CH", ""), "")
    for chapter in sorted({lab.chapter for lab in chosen}):
        parts = []
        for lab in chosen:
            if lab.chapter != chapter:
                continue
            folder, variant = f"build/labs/starters/{chapter}/{lab.name}", outcomes.variant_of(lab, "cpu")
            builder.prepare(variant)
            built, said = builder.build(lab, lab.starter, variant, folder)
            if not built:
                print(f"{lab.starter}: does not compile\n{said}")
                return 1
            parts.append(f"[{lab.name}]\n{said_of(lab, folder, variant)}\n")
        if parts != [f"[{name}]\n{text}\n" for name, text in stored(chapter).items()]:
            write(file_of(chapter), "\n".join(parts))
            print(f"written: {file_of(chapter)}", flush=True)
    return 0
