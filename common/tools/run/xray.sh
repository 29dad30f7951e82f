#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs programs that are built for X-ray and shows what they counted.
#
#   xray.sh DIR 'CHAPTER...' [program options]
#   xray.sh --check PROGRAM FILE NAME       a lab's check: the kernels of FILE, each in its largest launch
#
# The first line of [xray] in chapters/NN_name/settings makes the program small (else of [small]); options that are given come
# after it. (The other lines are further runs for make xray-verify.) From the environment:
#   CSV=FILE|-            the counts instead of the listing
#   EVENTS=FILE           what block BLOCK (0) of each kernel does, step by step, as JSON (common/cpu/xray/events.h)
#   HTML=FILE             the same as a page to click through, one file (common/tools/run/explorer.html)
#   BLOCKS=N|all          blocks of a grid that are counted (64)
set -u
tools=$(dirname "$(dirname "$0")")
. "$tools/run/terminal.sh"

check='' file=''
if [ "$1" = --check ]; then
  check=$2 file=$3
  set -- '' "$4"
fi
dir=$1
chapters=$2
shift 2
out=build/xray
stop() { echo "xray: $1" >&2; exit 2; }

case $chapters in
  *' '*) [ -z "${CSV:-}${EVENTS:-}${HTML:-}" ] || stop "CSV=, EVENTS= and HTML= need one chapter, e.g. CH=03" ;;
esac
steps=${EVENTS:+EVENTS}${HTML:+HTML} # what one block does is written
[ "$steps" != EVENTSHTML ] || stop "EVENTS= and HTML= go one at a time"
[ -z "$steps" ] || [ -z "$check" ] || stop "$steps= is for programs, not for labs (EX=)"
[ -z "${BLOCK:-}" ] || [ -n "$steps" ] || stop "BLOCK=$BLOCK goes with EVENTS= or HTML=; BLOCKS= says how many are counted"
[ -z "$steps" ] || [ -z "${CSV:-}" ] || stop "$steps= goes without CSV="
mkdir -p "$out" || exit 2

# Where nvcc is installed: what it made of each line, read once from the machine code; not for XRAY_SOURCE=1.
machine_code() {
  local python
  [ -z "$check$steps${XRAY_SOURCE:-}" ] && command -v nvcc >/dev/null && python=$("$tools/setup/python.sh") || return
  if [ ! "$out/$1.code" -nt "$dir/$1" ]; then
    echo "  nvcc  $1: what becomes of each line" >&2
    "$python" "$tools/.." tools.measure.accesses "$out/$1.code" "$1" 2>"$out/$1.nvcc" || {
      echo "xray: nvcc does not compile $1, so the counts are the source's; what it says is in $out/$1.nvcc" >&2
      return
    }
  fi
  echo "$out/$1.code"
}

# hand_over SETTING FILE WHAT: copies it there, whole or not at all.
hand_over() {
  { [ ! -d "$2" ] && cp "$3" "$2.partial" && mv "$2.partial" "$2"; } 2>/dev/null || stop "$1=$2: cannot be written"
  echo "-> $2"
}

# page_of JSON FILE: the explorer with these steps in it, and what reads them. They stand in a <script>, so no < of theirs may begin a tag.
page_of() {
  local line
  while IFS= read -r line; do
    case $line in
      @READER@) sed 's/^export //' "$tools/site/explore/events.mjs" ;;
      @STEPS@) sed 's/</\\u003c/g' "$1" ;;
      *) printf '%s\n' "$line" ;;
    esac || return
  done <"$tools/run/explorer.html"
} >"$2"

# One run of one program. What it prints itself is kept, and shown only if it fails.
xray() {
  local chapter=$1 name listing=''
  shift
  name=$out/$chapter
  mkdir -p "${name%/*}" || exit 2
  [ -n "${CSV:-}$steps" ] || listing=$name.txt
  rm -f "$name.txt" "$name.csv" "$name.json" "$name.html"
  code=$(machine_code "$chapter")
  XRAY_MACHINE_CODE=$code XRAY_LISTING=$listing XRAY_CSV=$name.csv XRAY_COLOUR=${bold:+1} XRAY_BLOCKS=${BLOCKS:-} \
    XRAY_EVENTS=${steps:+$name.json} XRAY_PAGE=${HTML:+${XRAY_PAGE:-1}} XRAY_BLOCK=${BLOCK:-} XRAY_FILE=$file "${check:-$dir/$chapter}" "$@" >"$name.out" 2>"$name.err"
  local status=$?
  if [ -n "$check" ]; then
    # A check that fails has counted as well; a setting that cannot be followed ends it at once.
    if [ $status -eq 2 ] && [ ! -f "$name.csv" ]; then cat "$name.err" >&2; return 2; fi
    [ -f "$name.csv" ] || stop "the check did not come to its end, so nothing was counted: make lab says why"
    [ "$(wc -l <"$name.csv")" -gt 1 ] || stop "no kernel of $file used memory"
    return 0
  fi
  # After a usage error stderr says it all; a wrong result is in the program's table.
  case $status in 0 | 2) ;; *) cat "$name.out" ;; esac
  cat "$name.err" >&2
  return $status
}

# show_listing TITLE NAME: the counts beside the source.
show_listing() {
  printf '%s%s%s\n' "$bold" "$1" "$plain"
  cat <<'TEXT'
What the warps ask for, counted on the CPU backend; no cache is modelled. A request is one load or
store of a warp; `lanes` are active in it on average. Each request costs sectors (32 bytes of global
or host memory), wavefronts (a pass through the 32 banks of shared memory) or words (of constant
memory), here beside what the same bytes would cost at best. `used`: bytes wanted of bytes moved.
Beside a line without access: how often a warp goes through it, and with how many lanes, where some
are missing. A warp goes through it once for each group of lanes that come there apart.
`*` marks the access of a launch that wastes most, `^` says what could be better.
TEXT
  if [ -n "$code" ]; then
    echo "The counts are the machine code's: \`~\` says what nvcc made of a line. What is executed for no lane, since"
    echo "nvcc made predicates of a branch, is no request and costs a turn all the same."
  else
    echo "The counts are the source's: nvcc may join some of these accesses, repeat them or leave them out."
  fi
  echo
  cat "$2.txt"
  # A program that checks its results says so.
  if [ -z "$check" ] && grep -Eqw 'ok|right|correct|passed' "$2.out"; then
    echo "The program's own check of its results passed; its table is in $2.out"
  elif [ -z "$check" ]; then
    echo "What the program printed is in $2.out"
  fi
}

status=0 code=''
for chapter in $chapters; do
  small='' # a lab's check has no options
  [ -n "$check" ] || small=$("$tools/run/settings.sh" xray "$chapter" | head -1)
  [ -n "$check$small" ] || small=$("$tools/run/settings.sh" small "$chapter" | head -1)
  # shellcheck disable=SC2086  # options are words
  xray "$chapter" $small "$@" || { status=$?; continue; }
  if [ "${CSV:-}" = - ]; then
    cat "$out/$chapter.csv"
  elif [ -n "${CSV:-}" ]; then
    hand_over CSV "$CSV" "$out/$chapter.csv"
  elif [ -n "${EVENTS:-}" ]; then
    hand_over EVENTS "$EVENTS" "$out/$chapter.json"
  elif [ -n "${HTML:-}" ]; then
    page_of "$out/$chapter.json" "$out/$chapter.html" || stop "HTML=$HTML: the page could not be made"
    hand_over HTML "$HTML" "$out/$chapter.html"
  else
    show_listing "${file:-$chapter $small${*:+ $*}}" "$out/$chapter"
  fi
done
exit $status
