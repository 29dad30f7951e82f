# SPDX-License-Identifier: MIT
"""Writes a notebook for a GPU that is borrowed by the hour (Colab, Kaggle, a JupyterHub): it clones the repository, runs a
chapter, and has a cell for each lab, in which its file is edited.

    python3 common tools.own.notebook CHAPTER FILE [REPOSITORY]      as in 05_shared_tree_reduction build/05.ipynb

REPOSITORY is where to clone from; without it the origin of this clone is asked. Nothing of the notebook is in the
repository: it is made of the lesson's title, the labs' starters and the address, and make notebook makes it anew."""

import json
import os
import re
import subprocess
import sys

from ...labs.catalogue import all_labs, read
from ..notes.markers import title_of

FOLDER = "cuda-tutorial"
UNKNOWN = "https://github.com/OWNER/NAME"


def origin():
    """Where this clone came from, as a stranger can clone it; a name and a password in the address are left out."""
    asked = subprocess.run(["git", "remote", "get-url", "origin"], capture_output=True, text=True, check=False)
    address = re.sub(r"^git@([^:]+):", r"https://\1/", asked.stdout.strip())
    address = re.sub(r"^(https?://)[^/@]*@", r"\1", address)
    return address if address.startswith("https://") else ""


def text_cell(text):
    return {"cell_type": "markdown", "metadata": {}, "source": lines(text)}


def code_cell(text):
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": lines(text)}


def lines(text):
    return text.strip("\n").splitlines(keepends=True)


def cells_of(chapter, labs, repository):
    number, title = chapter[:2], title_of(f"chapters/{chapter}/README.md")
    yield text_cell(f"""
# {number} {title}

Choose a GPU for this notebook if there is one (in Colab: *Runtime*, *Change runtime type*). Without one everything runs on the CPU backend, which finds bugs and says nothing about speed.
The cells are run from top to bottom. The lesson is `{FOLDER}/chapters/{chapter}/README.md`; read it beside them, and guess before you run.
""")
    yield code_cell(f"""
import os
os.environ["PATH"] += ":/usr/local/cuda/bin"
!nvidia-smi -L || echo "no GPU here: programs run on the CPU backend"
!test -d {FOLDER} || git clone --depth 1 {repository or UNKNOWN} {FOLDER}
%cd {FOLDER}
!mkdir -p work/{chapter}
""")
    yield text_cell("## The chapter's program")
    yield code_cell(f"!make run CH={number}")
    for lab in labs:
        yield text_cell(f"""
## Lab {lab.number}: {lab.title}

What to do stands in `{FOLDER}/{lab.folder}/README.md`. Edit this cell where it says TODO, run it, then run the check below. A hint, and the next one: `!make hint {lab.command}` in a cell of its own.
""")
        yield code_cell(f"%%writefile {lab.work}\n{read(lab.starter)}")
        yield code_cell(f"!make lab {lab.command}")
    yield text_cell("## A program of your own")
    own = read("common/tools/own/new.cu").partition("\n")[2].replace("NAME", "hello")
    yield code_cell(f"%%writefile work/hello.cu\n{own}")
    yield code_cell("!make run FILE=work/hello.cu")
    yield text_cell("What you wrote lies in `work/` and is gone with the machine: download it, or hand it in from here.")


def notebook(chapter, labs, repository):
    cells = list(cells_of(chapter, labs, repository))
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    about = {
        "accelerator": "GPU",  # what Colab takes first
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def main():
    chapter, path, *given = sys.argv[1:]
    repository = given[0] if given else origin()
    labs = [lab for lab in all_labs() if lab.chapter == chapter]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(notebook(chapter, labs, repository), file, indent=1, ensure_ascii=False)
        file.write("\n")
    where = f"clones {repository}" if repository else f"put your repository's address in the place of {UNKNOWN} in its first cell"
    print(f"  {path}: {len(labs)} lab{'' if len(labs) == 1 else 's'}; {where}")


if __name__ == "__main__":
    main()
