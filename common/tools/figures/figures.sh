#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws the figures with a python3 that has matplotlib, and makes them smaller with SVGO, one of the packages that
# slides/package-lock.json names.
#
#   figures.sh [--check] [CHAPTER...]
set -u
tools=$(dirname "$(dirname "$0")")

needs="figures need"
# shellcheck source=../setup/node.sh
. "$tools/setup/node.sh"

python=$("$tools/setup/python.sh" --matplotlib) ||
  stop 2 "figures need python3 with matplotlib. Run: $("$tools/setup/install.sh" --how matplotlib)"
need_node
log=$(mktemp "${TMPDIR:-/tmp}/figures.XXXXXX") || exit 2
trap 'rm -f "$log"' EXIT
need_packages slides build/slides/packages "$log"
"$python" "$tools/.." tools.figures.draw "$@"
