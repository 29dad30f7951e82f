#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages for a class to print, into build/handout/: predictions, summary and questions for everybody, a key for the
# teacher (handout.mjs). Or an exam and its key, into build/exam/ (exam.mjs).
#
#   handout.sh CHAPTER...               as in 05_shared_tree_reduction
#   handout.sh exam CH SEED MINUTES     as in 02-05 7 60; CH may list, 02-05,10, and without it all chapters are meant
# HTML needs Node.js, and what slides/package-lock.json names; where Chromium is, PDF is made as well.
set -u
tools=$(dirname "$(dirname "$0")")
needs="handouts need"
# shellcheck source=../setup/node.sh
. "$tools/setup/node.sh"

out=build/handout
packages=build/slides/packages
exam=()

# is_number TEXT MOST: a whole number from 1 on, as people write it
is_number() { case $1 in '' | *[!0-9]* | 0* | ??????????*) return 1 ;; *) [ "$1" -le "$2" ] ;; esac; }

# named NAME: the chapter that CH=NAME means: 5, 05, or the folder
named() {
  local chapter
  for chapter in "${all[@]}"; do
    case $1 in "$chapter" | "${chapter%%_*}") echo "$chapter" && return ;; esac
    [ "0$1" != "${chapter%%_*}" ] || { echo "$chapter" && return; }
  done
  return 1
}

# in_span CHAPTER SPAN...: whether it is in one of them, as in 02-05 or 10
in_span() {
  local span
  for span in "${@:2}"; do
    [[ $1 < $(named "${span%%-*}") || $1 > $(named "${span#*-}") ]] || return 0
  done
  return 1
}

if [ "${1:-}" = exam ]; then
  needs="exams need"
  out=build/exam
  all=(chapters/[0-9][0-9]_*/)
  all=("${all[@]%/}")
  all=("${all[@]#chapters/}")
  ch=${2:-${all[0]%%_*}-${all[${#all[@]} - 1]%%_*}}
  seed=${3:-$((RANDOM % 999 + 1))} minutes=${4:-60}
  IFS=, read -r -a spans <<<"$ch"
  for span in "${spans[@]}"; do
    if from=$(named "${span%%-*}") && to=$(named "${span#*-}") && [[ ! $from > $to ]]; then continue; fi
    stop 2 "CH=$ch: no such chapters; expected as in 02-05 or 02,05,10. There are: ${all[*]%%_*}"
  done
  is_number "$seed" 999999999 || stop 2 "SEED=$seed: expected a whole number from 1 on, as in SEED=7"
  is_number "$minutes" 600 || stop 2 "TIME=$minutes: expected the minutes of the exam, 1 to 600"
  exam=("$ch" "$seed" "$minutes")
  set --
  for chapter in "${all[@]}"; do
    if in_span "$chapter" "${spans[@]}"; then set -- "$@" "$chapter"; fi
  done
fi

need_node
chromium=$("$tools/setup/chromium.sh") || chromium=
[ -n "$chromium" ] || [ -z "${CHROME_PATH:-}" ] || stop 2 "CHROME_PATH=$CHROME_PATH: no such program"
export CHROME_PATH=$chromium
log=$(mktemp "${TMPDIR:-/tmp}/handout.XXXXXX") || exit 2
trap 'rm -f "$log"' EXIT
mkdir -p "$packages"
need_packages slides "$packages" "$log"

if [ ${#exam[@]} -gt 0 ]; then
  node "$tools/slides/exam.mjs" "$packages" "$out" "${exam[@]}" "$@" || exit
else
  rm -rf "$out.partial"
  node "$tools/slides/handout.mjs" "$packages" "$out.partial" "$@" || { rm -rf "$out.partial"; exit 1; }
  mkdir -p "$out"
  for chapter in "$@"; do rm -f "$out/${chapter%%_*}_"*; done
  mv "$out.partial"/* "$out/"
  rmdir "$out.partial"
  echo "  $out/: predictions, summary, questions and key of ${*/_*/}"
fi
if [ -z "$chromium" ]; then echo "  as HTML only: Chromium is not here. Run: $("$tools/setup/install.sh" --how chromium)"; fi
