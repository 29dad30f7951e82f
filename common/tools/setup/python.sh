#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the python3 to use; with --matplotlib one that has matplotlib, which may be the system's
# rather than the first on PATH. Prints nothing and fails when there is none.
set -u

for python in python3 /usr/bin/python3 /opt/homebrew/bin/python3; do
  command -v "$python" >/dev/null 2>&1 || continue
  if [ "${1:-}" = --matplotlib ]; then
    "$python" -c 'import matplotlib' >/dev/null 2>&1 || continue
  else
    "$python" -S -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1 || continue
  fi
  echo "$python"
  exit 0
done
exit 1
