# SPDX-License-Identifier: MIT
"""Runs a module of tools/ and labs/, which are one package:

    python3 common tools.notes.notes --check
    python3 common labs lab CH=05
"""

import os
import runpy
import sys

# Last, so that no file in the repository's folder stands in for a module of Python's.
sys.path[:1] = []
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
del sys.argv[0]
runpy.run_module(f"common.{sys.argv[0]}", run_name="__main__", alter_sys=True)
