#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The notebook: its address, its form, and every cell executed by Jupyter on the CPU backend, from a fresh clone.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "make notebook"
root=$PWD
notebook() { run "$python" common tools.own.notebook "$@"; }

test_case "without a chapter, and for one that there is not, one line"
answers fails "make notebook: which chapter? CH=05" run make -s notebook
answers fails "CH=99: no such chapter" run make -s notebook CH=99

test_case "it clones from where this clone came from, without a password; else its first cell says what to fill in"
for pair in "git@example.org:me/it.git https://example.org/me/it.git" "https://me:secret@example.org/it https://example.org/it" \
  "/home/me/it https://github.com/OWNER/NAME" " https://github.com/OWNER/NAME"; do
  fake_command git "echo '${pair%% *}'"
  run with_fakes "$python" common tools.own.notebook 00_first_kernel "$scratch/a.ipynb"
  expect_status 0
  expect "git clone ${pair##* }" grep -qF "git clone --depth 1 ${pair##* } cuda-tutorial" "$scratch/a.ipynb"
  expect "no secret" has_not "$(cat "$scratch/a.ipynb")" secret
done

test_case "each lab has its starter in a cell that writes it, and a cell that checks it"
notebook 05_shared_tree_reduction "$scratch/05.ipynb" "$root"
expect_output "05.ipynb: 4 labs; clones $root"
cat >"$scratch/cells.py" <<'PYTHON'
import glob, json, sys
cells = ["".join(cell["source"]) for cell in json.load(open(sys.argv[1]))["cells"]]
for starter in sorted(glob.glob("chapters/05_*/exercises/ex*_*.cu")):
    if starter.endswith(".check.cu"):
        continue
    name = starter.split("/")[-1]
    written = [i for i, cell in enumerate(cells) if cell.startswith(f"%%writefile work/05_shared_tree_reduction/{name}\n")]
    assert len(written) == 1 and cells[written[0]].split("\n", 1)[1] == open(starter).read().rstrip("\n"), name
    assert cells[written[0] + 1] == f"!make lab CH=05 EX={name[2]}", name
PYTHON
run "$python" "$scratch/cells.py" "$scratch/05.ipynb"
expect_status 0

jupyter=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import nbclient, ipykernel' 2>/dev/null; then jupyter=$candidate && break; fi
done
[ -n "$jupyter" ] || skip_rest "its cells are executed" "nbclient and ipykernel are not here (Debian: python3-nbclient python3-ipykernel)"

test_case "its cells are executed: the chapter runs, the starter fails, a solution that is written there passes"
notebook 00_first_kernel "$scratch/00.ipynb" "$root"
cat >"$scratch/execute.py" <<'PYTHON'
import os, sys
import nbclient, nbformat
path, folder, solution = sys.argv[1:]
book = nbformat.read(path, 4)
nbformat.validate(book)
lab = "work/00_first_kernel/ex1_scale_and_add.cu"
book.cells += [nbformat.v4.new_code_cell(text) for text in (f"%%writefile {lab}\n{open(solution).read()}", "!make lab CH=00 EX=1")]
os.makedirs(folder)
os.environ.update(BACKEND="cpu", IPYTHONDIR=f"{folder}/ipython", JUPYTER_CONFIG_DIR=folder, HOME=folder)
nbclient.NotebookClient(book, timeout=1500, resources={"metadata": {"path": folder}}).execute()
said = ["".join(output.get("text", "") for output in cell.outputs) for cell in book.cells if cell.cell_type == "code"]
for number, wanted in ((1, "sums are right"), (3, "not yet"), (5, "0 of 1000 results are wrong"), (7, "passed")):
    assert wanted in said[number], (number, wanted, said[number])
assert "not yet" not in said[7], said[7]
PYTHON
run "$jupyter" "$scratch/execute.py" "$scratch/00.ipynb" "$scratch/borrowed" "$root/chapters/00_first_kernel/exercises/solutions/ex1_scale_and_add.cu"
expect_status 0
