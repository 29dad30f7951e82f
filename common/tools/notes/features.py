# SPDX-License-Identifier: MIT
"""Which features of CUDA work without a GPU: the table of common/cpu/README.md."""

import glob
import os
import re

from .markers import Problem, allow, read_text
from .tables import markdown_table

FEATURE = re.compile(r"^(?://|#) FEATURE: ([a-z ]+): (.+)$", re.M)
TESTS = ("tests/backend/*.test.cu", "tests/backend/zoo/*.cu", "tests/tools/*.test.sh")


def make_features(folder, positional, attributes):
    """What lines `// FEATURE: area: feature` above the tests say."""
    allow(attributes)
    if positional != ["works"]:
        raise Problem("expected works")
    root = os.path.normpath(os.path.join(folder, "../.."))
    rows = []
    for pattern in TESTS:
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            link = f"[{os.path.basename(path)}]({os.path.relpath(path, folder)})"
            rows += [[area, feature, link] for area, feature in FEATURE.findall(read_text(path))]
    rows.sort(key=lambda row: row[0])  # those of an area stay in the order of the tests
    return markdown_table(["Area", "What works", "Tested in"], rows, [False] * 3), "tests/backend"
