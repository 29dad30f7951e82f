#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs programs that are built for X-ray and looks for races. Prints what the backend reports; what a program prints
# itself is kept, and shown only if it fails for another reason.
#
#   races.sh DIR 'CHAPTER...' [program options]
#
# Without options each of a chapter's small runs is tried (settings.sh). If one program alone is asked for, and all of its
# runs are there to show a bug, it is those. Ends with status 1 when there was a race.
set -u
tools=$(dirname "$(dirname "$0")")
. "$tools/run/terminal.sh"

dir=$1
chapters=$2
shift 2
out=build/races
mkdir -p "$out" || exit 2
status=0

# One run of one program.
look() {
  local chapter=$1 rc
  shift
  mkdir -p "$out/$(dirname "$chapter")" || exit 2
  printf '%s%s %s%s\n' "$bold" "$chapter" "$*" "$plain"
  CUDA_CPU_RACES=all "$dir/$chapter" "$@" >"$out/$chapter.out" 2>"$out/$chapter.err" </dev/null
  rc=$?
  # A race that it would call WRONG stands above, and how far it was is of no use at its end.
  sed '/^WRONG: if threads race, /d; /^note: kernels run slower while races /d' "$out/$chapter.err" >&2
  if [ $rc -eq 0 ]; then
    echo "  no race"
  else
    # After a report or a usage error stderr says it all.
    if [ ! -s "$out/$chapter.err" ]; then cat "$out/$chapter.out"; fi
    status=$rc
  fi
}

for chapter in $chapters; do
  if [ $# -gt 0 ]; then
    look "$chapter" "$@"
    continue
  fi
  runs=()
  while IFS= read -r line; do runs+=("$line"); done < <("$tools/run/settings.sh" small "$chapter")
  if [ ${#runs[@]} -eq 0 ] && [ "$chapter" = "$chapters" ]; then
    while IFS= read -r line; do runs+=("${line%%=> *}"); done < <("$tools/run/settings.sh" bugs "$chapter")
  fi
  for options in ${runs[@]+"${runs[@]}"}; do
    # shellcheck disable=SC2086  # options are words
    look "$chapter" $options
  done
done
exit $status
