# SPDX-License-Identifier: MIT
"""A hint for the teacher: which submissions of an exercise read alike, but for names. It is a remark, and takes no points.

A text is cut into runs of RUN tokens, in which names are numbers: the first name is 0, the next other one 1. Runs that the
starter, the solution or more than FEW submissions have are nobody's own. Two texts are alike when the one with fewer runs
of its own shares nearly all of them with the other."""

from ..tools import cpp
from .class_folder import shown

RUN = 12  # tokens
OWN_RUNS = 24  # with fewer, two learners write the same by themselves
ALIKE = 0.8
FEW = 4  # submissions may share a run; what more have is an idiom, or the whole class sat together


def runs(source):
    """The runs of a text."""
    found, tokens = set(), source.tokens
    for i in range(len(tokens) - RUN + 1):
        numbers = {}
        found.add(tuple(
            numbers.setdefault(token.text, len(numbers)) if token.kind == "name" else token.text
            for token in tokens[i : i + RUN]
        ))  # fmt: skip
    return found


def of_exercise(lab, texts, read):
    """[(student, student, share)] of those who handed in an exercise: {student: text}. read(text): its Source, None where
    that cannot be."""
    common = runs(cpp.source(lab.starter)) | runs(cpp.source(lab.solution))
    own = {}
    for student, text in texts.items():
        source = read(text)
        if source:
            own[student] = runs(source) - common
    shared_by = {}
    for found in own.values():
        for run in found:
            shared_by[run] = shared_by.get(run, 0) + 1
    own = {student: {run for run in found if shared_by[run] <= FEW} for student, found in own.items()}
    students, pairs = sorted(own), []
    for i, one in enumerate(students):
        for other in students[i + 1 :]:
            fewest = min(len(own[one]), len(own[other]))
            share = len(own[one] & own[other]) / fewest if fewest >= OWN_RUNS else 0
            if share >= ALIKE:
                pairs.append((one, other, share))
    return pairs


def remarks(labs, jobs, read):
    """One line for each pair, of the jobs whose submissions were read and run."""
    lines = []
    for lab in labs:
        texts = {
            shown(job.student): job.text
            for job in jobs
            if job.lab is lab and job.text and job.result["verdict"] in ("passed", "failed")
        }
        for one, other, share in of_exercise(lab, texts, read) if len(texts) > 1 else []:
            lines.append(f"{lab.label}: {one} and {other} read alike: {share:.0%} of what is their own, names apart")
    return lines
