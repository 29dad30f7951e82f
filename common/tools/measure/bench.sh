#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a GPU, measures every chapter at its full size; the CSV and the printed table go to
# chapters/NN_name/results/GPU.csv and .txt. A chapter's settings/bench.args names further runs, one per line:
# "stride --sweep stride" writes results/GPU_stride.csv. On the CPU backend, measures that backend's own speed.
#
#   bench.sh gpu 'CHAPTER...' PROGRAM...
#   bench.sh cpu '' BENCHMARK...
set -u
tools=$(dirname "$(dirname "$0")")
. "$tools/run/terminal.sh"

backend=$1
# shellcheck disable=SC2206  # chapter names are words
chapters=($2)
shift 2
status=0

if [ "$backend" = cpu ]; then
  echo
  for program in "$@"; do
    "$program" || status=1
  done
  exit $status
fi

gpu=$("$tools/setup/gpu_name.sh") || { echo "make bench needs a GPU, and nvidia-smi lists none; BACKEND=cpu measures the CPU backend" >&2; exit 77; }
for chapter in "${chapters[@]}"; do
  results=chapters/$chapter/results
  mkdir -p "$results"
  # measure SUFFIX OPTION...
  measure() {
    local file=$results/$gpu$1
    shift
    printf '\n%s%s%s %s\n' "$bold" "$chapter" "$plain" "$*"
    if "build/gpu/$chapter" "$@" --csv "$file.csv" | tee "$file.txt.partial"; then
      mv "$file.txt.partial" "$file.txt"
      echo "-> $file.csv"
    else
      rm -f "$file.txt.partial"
      echo "failed: $chapter $*" >&2
      status=1
    fi
  }
  set -o pipefail
  if [ -f "chapters/$chapter/settings/no_options" ]; then # a plain program, with nothing to measure
    "build/gpu/$chapter" | tee "$results/$gpu.txt" || status=1
    continue
  fi
  measure ""
  if [ -f "chapters/$chapter/settings/bench.args" ]; then
    while read -r suffix options; do
      case $suffix in '' | '#'*) continue ;; esac
      # shellcheck disable=SC2086  # options are words
      measure "_$suffix" $options </dev/null
    done <"chapters/$chapter/settings/bench.args"
  fi
done
exit $status
