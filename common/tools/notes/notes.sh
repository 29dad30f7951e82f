#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Refreshes the quoted code, tables and numbers in the notes: notes.py with a python3 that can run it.
set -u
tools=$(dirname "$(dirname "$0")")

if ! python=$("$tools/setup/python.sh"); then
  echo "make notes needs python3, 3.8 or newer. Run: $("$tools/setup/install.sh" --how python)" >&2
  exit 2
fi
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$tools/notes/notes.py" "$@"
