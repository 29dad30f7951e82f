#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the python3 to use; with --matplotlib one that has matplotlib, which may be the system's rather than the first
# on PATH. Prints nothing and fails when there is none.
#
#   python.sh --run MODULE...     runs the module with it (common/__main__.py). Without any, Python is installed if that
#                                 needs no password, else the line that installs it is printed.
set -u

find_python() {
  local python
  for python in python3 /usr/bin/python3 /opt/homebrew/bin/python3; do
    command -v "$python" >/dev/null 2>&1 || continue
    if [ "${1:-}" = --matplotlib ]; then
      "$python" -c 'import matplotlib' >/dev/null 2>&1 || continue
    else
      "$python" -S -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1 || continue
    fi
    echo "$python" && return
  done
  return 1
}

if [ "${1:-}" != --run ]; then
  find_python "$@"
  exit
fi
shift
if ! python=$(find_python); then
  if how=$("$(dirname "$0")/install.sh" python); then
    how="The one that is installed here is older"
  else
    how="Run: $how"
  fi
  what=${1##*.}
  python=$(find_python) || { echo "make needs python3 for ${what//_/ }, 3.8 or newer. $how" >&2; exit 2; }
fi
# Compiled once, beside everything else that is: parsing takes longer than most verbs. Nothing installed is used (-S).
unset PYTHONDONTWRITEBYTECODE
PYTHONPYCACHEPREFIX=build/python exec "$python" -S "${0%/*}/../.." "$@"
