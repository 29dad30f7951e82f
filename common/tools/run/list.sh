#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints each chapter and the question it answers, from the first comment of its program.
#
#   list.sh CHAPTER...
set -u
. "$(dirname "$0")/terminal.sh"

for chapter in "$@"; do
  source=chapters/$chapter/${chapter#*_}.cu
  question=$(sed -n '1,4s#^// Chapter [0-9]*: *##p' "$source" | head -1)
  printf '%s%-28s%s %s\n' "$bold" "$chapter" "$plain" "$question"
done
echo
echo "Run one:  make run CH=${1%%_*}      Read its notes: chapters/$1/README.md"
