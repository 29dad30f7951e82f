#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs test programs and adds up their test cases. The last line printed is
# "N passed, M failed, K skipped", alone.
#
#   run_tests.sh cpu|gpu 'CHAPTER...' TEST...
# TEST is a Catch2 program built from a .test.cu or .test.cpp, or a script tests/cli/*.test.sh.
#
# Kernels promise no order, so on the CPU backend every .test.cu runs under several schedules. A test
# case counts once: passed if it passed under each of them. A crash counts as a failed test case, and
# so does a program that ran none.
#
# SCHEDULES="forward random:7" chooses others; BUILD=build/cpu-asan runs another variant.
set -u
. "$(dirname "$0")/../run/terminal.sh"

backend=$1
chapters=$2
shift 2
build=${BUILD:-build/$backend}
schedules=default
[ "$backend" = cpu ] && schedules=${SCHEDULES:-forward reverse random:1 random:2 random:3}

if [ "$backend" = gpu ] && ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo "make test BACKEND=gpu needs a GPU, and nvidia-smi lists none; BACKEND=cpu tests without one" >&2
  echo "0 passed, 0 failed, 0 skipped"
  exit 77
fi

export PREPASS=$PWD/build/cpu/prepass ZOO_DIR=$PWD/build/cpu/zoo
export BACKEND=$backend PROGRAMS_DIR=$PWD/$build CHAPTERS=$chapters
# Programs and scripts below are not part of this make.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL MAKE_TERMOUT MAKE_TERMERR CH ARGS N V ARCH CUDA_CPU_SCHEDULE

results=$build/test_results
mkdir -p "$build"
: >"$results"

runner=()
[ -n "${TEST_RUNNER:-}" ] && read -r -a runner <<<"$TEST_RUNNER"

# Runs one program under one schedule; appends "TEST SCHEDULE STATUS NAME" lines (tabs) to $results.
run_once() {
  local test=$1 schedule=$2 lines status signal why=''
  lines=$scratch/lines
  : >"$lines"
  if [ "$schedule" != default ]; then export CUDA_CPU_SCHEDULE=$schedule; else unset CUDA_CPU_SCHEDULE; fi
  TEST_RESULTS=$lines limited "${TEST_TIMEOUT:-300}" ${runner[@]+"${runner[@]}"} "$test" >"$log" 2>&1
  status=$?
  signal=$(signal_in $status)
  [ $status -ne 0 ] && why="ended with status $status"
  [ -n "$signal" ] && why="killed by $signal"
  [ $status -eq 124 ] && why="stopped after ${TEST_TIMEOUT:-300} seconds"
  awk -F '\t' -v OFS='\t' -v test="$test" -v schedule="$schedule" -v why="$why" '
    $1 == "started" { running = $2; next }
    { running = ""; n++; if ($1 == "failed") failures++; print test, schedule, $1, $2 }
    END {
      if (running != "") print test, schedule, "failed", running, why
      else if (why != "" && !failures) print test, schedule, "failed", "(the program " why ")"
      else if (!n) print test, schedule, "failed", "(the program ran no test)"
    }' "$lines" >"$scratch/new"
  cat "$scratch/new" >>"$results"
  cp "$scratch/new" "$log.results"
  ! grep -q "$(printf '\tfailed\t')" "$scratch/new"
}

# Up to 40 lines of a failed run, and how to repeat it.
show_failure() {
  local test=$1 schedule=$2
  grep -v '^passed: ' "$log" >"$scratch/shown"
  awk -F '\t' '$3 == "failed" { print "        " $4 ($5 != "" ? "  [" $5 "]" : "") }' "$log.results" | head -12
  if [ "$(wc -l <"$scratch/shown")" -gt 44 ]; then
    { head -30 "$scratch/shown"; echo "..."; tail -12 "$scratch/shown"; } | sed 's/^/      | /'
  else
    sed 's/^/      | /' "$scratch/shown"
  fi
  echo "      again: ${schedule:+CUDA_CPU_SCHEDULE=$schedule }$test"
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tests.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

[ $# -gt 0 ] && echo
for test in "$@"; do
  name=${test#build/*/}
  name=${name#tests/}
  name=${name%.sh}
  name=${name%.test}
  orders=default
  case $test in
    *.sh) label=$test ;;
    # What X-ray counts must not depend on the order; two tell as much as five.
    build/cpu-xray/*) label=${test#build/*/}; orders=${SCHEDULES:-forward random:1} ;;
    *) label=${test#build/*/}; [ -f "$label.cu" ] && orders=$schedules ;;
  esac
  start=$(now_ms)
  failed_under=''
  count=0
  for schedule in $orders; do
    log=$build/${label%.sh}.${schedule/:/-}.log
    mkdir -p "$(dirname "$log")"
    run_once "$test" "$schedule" || failed_under="$failed_under $schedule"
    count=$((count + 1))
  done
  # What failed stays on the screen; what passed is one line.
  cases=$(cut -f 4 "$log.results" | sort -u | wc -l | tr -d ' ')
  what="$cases tests"
  [ "$cases" -eq 1 ] && what="1 test"
  [ "$count" -gt 1 ] && what="$what, $count schedules"
  if [ -z "$failed_under" ]; then
    printf '  %sok%s    %-34s %-24s %9s\n' "$green" "$plain" "$name" "$what" "$(since "$start")"
  else
    printf '  %sFAIL%s  %-34s %-24s %9s\n' "$red" "$plain" "$name" "$what" "$(since "$start")"
    first=$(echo "$failed_under" | cut -d ' ' -f 2)
    log=$build/${label%.sh}.${first/:/-}.log
    [ "$first" = default ] && first=''
    [ -n "$first" ] && echo "      under$failed_under; here is $first:"
    show_failure "$test" "$first"
  fi
done

# One line per test case: the worst that happened to it.
totals=$(awk -F '\t' '
  { key = $1 "\t" $4; rank = $3 == "failed" ? 3 : $3 == "passed" ? 2 : 1
    if (rank > worst[key]) worst[key] = rank }
  END {
    for (key in worst) count[worst[key]]++
    printf "%d passed, %d failed, %d skipped\n", count[2], count[3], count[1]
  }' "$results")

echo
if ! grep -q "$(printf '\t\\(passed\\|failed\\)\t')" "$results"; then
  echo "no test ran: that is a failure"
  echo "$totals"
  exit 1
fi
echo "$totals"
case $totals in *" 0 failed,"*) ;; *) exit 1 ;; esac
