#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints each chapter and the question it answers, from the first comment of its program. Of one chapter also its
# experiments with theirs.
#
#   list.sh CHAPTER...
set -u
. "$(dirname "$0")/terminal.sh"

# row NAME SOURCE: its name, and the first line after its licence, without the chapter's number
row() {
  printf '%s%-29s%s %s\n' "$bold" "$1" "$plain" "$(sed -n '2{s#^// *##; s#^Chapter [0-9]*: *##; p; q;}' "$2")"
}

for chapter in "$@"; do row "$chapter" "chapters/$chapter/${chapter#*_}.cu"; done
echo
echo "Run one:  make run CH=${1%%_*}      Read its notes: chapters/$1/README.md"
if [ $# -gt 1 ]; then
  echo "Its experiments: make list CH=${1%%_*}"
  exit
fi
experiments=("chapters/$1"/experiments/*.cu)
[ -f "${experiments[0]}" ] || exit 0
echo
for source in "${experiments[@]}"; do row "$(basename "$source" .cu)" "$source"; done
echo
echo "Run one:  make run CH=${1%%_*} EXPERIMENT=$(basename "${experiments[0]}" .cu)"
