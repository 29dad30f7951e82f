# SPDX-License-Identifier: MIT
"""Which features of CUDA work without a GPU, and which are refused by name: the tables of common/cpu/README.md."""

import glob
import html
import os
import re

from .markers import Problem, allow, read_text
from .tables import markdown_table

FEATURE = re.compile(r"^(?://|#) FEATURE: ([a-z ]+): (.+)$", re.M)
TESTS = ("tests/backend/*.test.cu", "tests/backend/zoo/*.cu", "tests/tools/*.test.sh")
# {"no clusters of blocks", {"name name ...", ...}} and {"cufft", "cuFFT"}
REFUSED = re.compile(r'^ {4}\{((?:"[^"]*"\s*)+),\s*\{([^{}]*)\}\}', re.M)
REFUSED_HEADER = re.compile(r'^ {4}\{"([^"]*)", "([^"]*)"\}', re.M)
MOST_NAMES = 3


def make_features(folder, positional, attributes):
    """`works`: what lines `// FEATURE: area: feature` above the tests say. `refused`: what is in prepass/refused.h."""
    allow(attributes)
    makers = {("works",): working_features, ("refused",): refused_features}
    if tuple(positional) not in makers:
        raise Problem("expected works or refused")
    return makers[tuple(positional)](folder)


def working_features(folder):
    root = os.path.normpath(os.path.join(folder, "../.."))
    rows = []
    for pattern in TESTS:
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            link = f"[{os.path.basename(path)}]({os.path.relpath(path, folder)})"
            rows += [[area, feature, link] for area, feature in FEATURE.findall(read_text(path))]
    rows.sort(key=lambda row: row[0])  # those of an area stay in the order of the tests
    return markdown_table(["Area", "What works", "Tested in"], rows, [False] * 3), "tests/backend"


def refused_features(folder):
    text = read_text(os.path.join(folder, "prepass/refused.h"))
    rows = []
    for what, names in REFUSED.findall(text):
        every = " ".join(re.findall(r'"([^"]*)"', names)).split()
        shown = ", ".join(f"`{name}`" for name in every[:MOST_NAMES])
        said = html.escape("".join(re.findall(r'"([^"]*)"', what)), quote=False)
        rows.append([said, shown + (" ..." if len(every) > MOST_NAMES else "")])
    for name, what in REFUSED_HEADER.findall(text):
        rows.append(["no " + html.escape(what, quote=False), f"`<{name}{'' if name.endswith('.h') else '...'}>`"])
    return markdown_table(["The CPU backend has", "Refused by name"], rows, [False] * 2), "prepass/refused.h"
