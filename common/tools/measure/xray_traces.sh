#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stores what X-ray counted, for figures and for product_limits.py: chapters/NN_name/results/xray_TOPIC.csv.
#
#   xray_traces.sh [--check] DIR 'CHAPTER...'
#
# chapters/NN_name/settings/xray_traces says what is stored: TOPIC, then options for the program. The line
#   topic --only a,b          is what        make xray CH=NN ONLY=a,b CSV=.../xray_topic.csv
# would store. --check writes nothing, and fails where another trace would be stored. The order of the rows
# does not count: among rows of the same line it is up to the compiler.
set -u
tools=$(dirname "$(dirname "$0")")
check=''
if [ "${1:-}" = --check ]; then
  check=1
  shift
fi
dir=$1
chapters=$2
status=0
said=$(mktemp "${TMPDIR:-/tmp}/traces.XXXXXX") || exit 2
fresh=$said.csv
trap 'rm -f "$said" "$fresh"' EXIT
stop() { echo "xray-traces: $1" >&2; exit 2; }
complain() { echo "$1" >&2; status=1; }

for chapter in $chapters; do
  list=chapters/$chapter/settings/xray_traces
  wanted=' '
  if [ -f "$list" ]; then
    while read -r topic options; do
      case $topic in '' | '#'*) continue ;; esac
      case $topic in *[!a-z0-9_]*) stop "$list: '$topic': a topic is made of a-z, 0-9 and _" ;; esac
      stored=chapters/$chapter/results/xray_$topic.csv
      wanted="$wanted$stored "
      # shellcheck disable=SC2086  # options are words
      if ! CSV=$fresh LINE='' SVG='' BLOCKS='' "$tools/run/xray.sh" "$dir" "$chapter" $options >"$said" 2>&1; then
        cat "$said" >&2
        complain "$list: $topic: no trace"
      elif [ -z "$check" ]; then
        cmp -s "$fresh" "$stored" && continue
        { cp "$fresh" "$stored.partial" && mv "$stored.partial" "$stored"; } 2>/dev/null || stop "$stored: cannot be written"
        echo "traced $stored"
      elif [ ! -f "$stored" ]; then
        complain "$stored: not traced yet; run make xray-traces figures"
      elif ! cmp -s <(sort "$fresh") <(sort "$stored"); then
        complain "$stored: the kernels do something else now; run make xray-traces figures"
      fi
    done <"$list"
  fi
  for stored in "chapters/$chapter"/results/xray_*.csv; do
    [ -f "$stored" ] || continue
    case $wanted in *" $stored "*) ;; *) complain "$stored: $list does not say how it was traced" ;; esac
  done
done
exit $status
