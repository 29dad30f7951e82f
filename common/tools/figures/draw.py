# SPDX-License-Identifier: MIT
"""Runs the figure scripts NN_name.py of this folder, and SVGO over what they drew. figures.sh has installed SVGO.

--check fails when a committed figure has other bytes, is missing, or is drawn by no script. Figures drawn with another
version of matplotlib are not compared.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SVGO = "build/slides/packages/node_modules/.bin/svgo"


def run_scripts(chapters, root):
    """Runs the scripts; returns those that failed."""
    failed = []
    environment = dict(os.environ, FIGURES_ROOT=str(root), PYTHONDONTWRITEBYTECODE="1")
    for script in sorted(HERE.glob("[0-9][0-9]_*.py")):
        if chapters and script.stem not in chapters:
            continue
        done = subprocess.run([sys.executable, ROOT / "common", f"tools.figures.{script.stem}"], env=environment, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            # The last line of a traceback says what is wrong, be it a missing CSV or a typing error.
            said = done.stderr.strip().split("\n")[-1] if not os.environ.get("V") else "\n" + done.stderr
            failed.append(f"{script.relative_to(ROOT)}: {said}")
        elif done.stderr:
            print(done.stderr.rstrip())
    return failed


def figures_in(root, chapters=()):
    """{path below root: its bytes}, of these chapters or of all."""
    return {str(path.relative_to(root)): path.read_bytes()
            for chapter in chapters or ["*"] for path in sorted(root.glob(f"chapters/{chapter}/figures/*.svg"))}


def drawn_with(svg):
    match = re.search(rb"Matplotlib v([\d.]+)", svg)
    return match[1].decode() if match else None


def minify(root):
    """Says the same with fewer bytes, in place; svgo.config.mjs says what stays."""
    svgo = [str(ROOT / SVGO), "--config", str(HERE / "svgo.config.mjs"), "--recursive", "--quiet"]
    subprocess.run([*svgo, "--folder", str(root), "--output", str(root)], check=True)


def check(fresh, committed):
    """Complaints, and which other versions of matplotlib have drawn what is committed."""
    faults, others = [], set()
    for name, new in fresh.items():
        old = committed.get(name)
        if old is None:
            faults.append(f"{name}: not drawn yet; run make figures")
        elif old != new and drawn_with(old) in (None, drawn_with(new)):
            faults.append(f"{name}: drifted from its script or data; run make figures")
        elif old != new:
            others.add(drawn_with(old))
    faults += [f"{name}: no script draws it" for name, svg in committed.items() if name not in fresh and drawn_with(svg)]
    if others:
        print(f"note: figures drawn with matplotlib {', '.join(sorted(others))}: not compared")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        faults = run_scripts(options.chapters, scratch)
        if figures_in(Path(scratch)):
            minify(scratch)
        fresh = figures_in(Path(scratch))
    committed = figures_in(ROOT, options.chapters)
    if options.check:
        faults += check(fresh, committed)
    else:
        for name, svg in fresh.items():
            if committed.get(name) != svg:
                (ROOT / name).parent.mkdir(exist_ok=True)
                (ROOT / name).write_bytes(svg)
                print(f"drew {name}")
    for fault in faults:
        print(fault, file=sys.stdout if options.check else sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
