#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws the figures with a python3 that has matplotlib.
#
#   figures.sh [--check] [CHAPTER...]
set -u
tools=$(dirname "$(dirname "$0")")

if ! python=$("$tools/setup/python.sh" --matplotlib); then
  echo "figures need python3 with matplotlib. Run: $("$tools/setup/install.sh" --how matplotlib)" >&2
  exit 2
fi
exec "$python" "$tools/figures/draw.py" "$@"
