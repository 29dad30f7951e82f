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
# SCHEDULES="forward random:7" chooses others; BUILD=build/cpu-asan runs another variant. On the CPU backend
# one test more than there are cores runs at a time, for some wait; AT_A_TIME=1 says otherwise. Each script builds in
# a folder of its own. On a GPU tests run one after the other, for some of them measure it.
#
# KEEP=1: what passed and could only pass again is not run again, as make does not compile again (CPU backend only).
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

# The files of the tree, for what find shall say of each.
tree() {
  find . \( -path ./build -o -path ./work -o -path ./.git -o -name node_modules -o -name __pycache__ \) -prune -o -type f "$@"
}
# What decides beside the contents of files whether a test passes. A program compiled from a .test.cu looks at data
# beside itself. Others look at sources, run compilers or programs: which files there are decides, too.
surroundings_of() { if [ -f "$label.cu" ]; then echo "$surroundings"; else echo "$surroundings $files"; fi; }
# Whether a program or script passed before, in the surroundings of now, and nothing that it looks at has changed since.
still_passes() {
  local test=$1 kept=$2 newer
  [ -n "$keeping" ] && [ -e "$kept" ] && [ "$(cat "$kept")" = "$(surroundings_of)" ] || return 1
  newer=$(find "$test" "$0" -newer "$kept")
  if [ -z "$newer" ] && [ -f "$label.cu" ]; then
    newer=$(find tests chapters -type f \( -name '*.csv' -o -name '*.txt' \) -newer "$kept" | head -1)
  elif [ -z "$newer" ]; then
    newer=$(tree -newer "$kept" -print | head -1)
  fi
  [ -z "$newer" ]
}

# Runs one program under one schedule; appends "TEST SCHEDULE STATUS NAME" lines (tabs) to $found.
run_once() {
  local test=$1 schedule=$2 lines=$mine/lines kept=$log.passed status signal why='' limit=${TEST_TIMEOUT:-300}
  if still_passes "$test" "$kept"; then
    cat "$log.results" >>"$found"
    return
  fi
  rm -f "$kept"
  ran=$((ran + 1))
  case $test in *.sh) limit=${TEST_TIMEOUT:-600} ;; esac # some compile
  : >"$lines"
  if [ "$schedule" != default ]; then export CUDA_CPU_SCHEDULE=$schedule; else unset CUDA_CPU_SCHEDULE; fi
  TEST_RESULTS=$lines limited "$limit" ${runner[@]+"${runner[@]}"} "$test" >"$log" 2>&1
  status=$?
  signal=$(signal_in $status)
  [ $status -ne 0 ] && why="ended with status $status"
  [ -n "$signal" ] && why="killed by $signal"
  [ $status -eq 124 ] && why="stopped after $limit seconds"
  awk -F '\t' -v OFS='\t' -v test="$test" -v schedule="$schedule" -v why="$why" '
    $1 == "started" { running = $2; next }
    { running = ""; n++; if ($1 == "failed") failures++; print test, schedule, $1, $2 }
    END {
      if (running != "") print test, schedule, "failed", running, why
      else if (why != "" && !failures) print test, schedule, "failed", "(the program " why ")"
      else if (!n) print test, schedule, "failed", "(the program ran no test)"
    }' "$lines" >"$mine/new"
  cat "$mine/new" >>"$found"
  cp "$mine/new" "$log.results"
  if [ -n "$keeping" ] && ! grep -qv "$(printf '\tpassed\t')" "$mine/new"; then
    surroundings_of >"$kept" && touch -r "$scratch/began" "$kept"
  fi
  ! grep -q "$(printf '\tfailed\t')" "$mine/new"
}

# Up to 40 lines of a failed run, and how to repeat it.
show_failure() {
  local test=$1 schedule=$2
  grep -v '^passed: ' "$log" >"$mine/shown"
  awk -F '\t' '$3 == "failed" { print "        " $4 ($5 != "" ? "  [" $5 "]" : "") }' "$log.results" | head -12
  if [ "$(wc -l <"$mine/shown")" -gt 44 ]; then
    { head -30 "$mine/shown"; echo "..."; tail -12 "$mine/shown"; } | sed 's/^/      | /'
  else
    sed 's/^/      | /' "$mine/shown"
  fi
  echo "      again: ${schedule:+CUDA_CPU_SCHEDULE=$schedule }$test"
}

# Runs one test under all its schedules and says how it went; $mine is a folder of its own.
run_test() {
  local test=$1 mine=$2 found=$2/found name label orders=default schedule log start failed_under='' count=0 ran=0 took cases what first
  mkdir -p "$mine"
  name=${test#build/*/}
  name=${name#tests/}
  name=${name%.sh}
  name=${name%.test}
  case $test in
    *.sh) label=$test ;;
    # What X-ray counts must not depend on the order; two tell as much as five.
    build/cpu-xray/*) label=${test#build/*/}; orders=${SCHEDULES:-forward random:1} ;;
    *) label=${test#build/*/}; [ -f "$label.cu" ] && orders=$schedules ;;
  esac
  start=$(now_ms)
  for schedule in $orders; do
    log=$build/${label%.sh}.${schedule/:/-}.log
    mkdir -p "$(dirname "$log")"
    run_once "$test" "$schedule" || failed_under="$failed_under $schedule"
    count=$((count + 1))
  done
  took="unchanged"
  if [ $ran -gt 0 ]; then
    took=$(since "$start")
    echo "$(($(now_ms) - start)) $test $name" >"$mine/took"
  else
    cut -f 4 "$log.results" | sort -u | wc -l >"$mine/unchanged"
  fi
  # What failed stays on the screen; what passed is one line.
  cases=$(cut -f 4 "$log.results" | sort -u | wc -l | tr -d ' ')
  what="$cases tests"
  [ "$cases" -eq 1 ] && what="1 test"
  [ "$count" -gt 1 ] && what="$what, $count schedules"
  if [ -z "$failed_under" ]; then
    printf '  %sok%s    %-34s %-24s %9s\n' "$green" "$plain" "$name" "$what" "$took"
  else
    printf '  %sFAIL%s  %-34s %-24s %9s\n' "$red" "$plain" "$name" "$what" "$took"
    first=$(echo "$failed_under" | cut -d ' ' -f 2)
    log=$build/${label%.sh}.${first/:/-}.log
    [ "$first" = default ] && first=''
    [ -n "$first" ] && echo "      under$failed_under; here is $first:"
    show_failure "$test" "$first"
  fi
}

# One of several that work side by side: takes the next test that nobody has taken, until there is none.
# A folder is made by one only.
take_turns() {
  local test number=0
  stop_on_interrupt
  for test in "$@"; do
    number=$((number + 1))
    mkdir "$scratch/$number" 2>/dev/null || continue
    run_test "$test" "$scratch/$number" >"$scratch/$number/said"
    cat "$scratch/$number/said"
  done
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tests.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
stop_on_interrupt
: >"$scratch/began"

keeping=''
[ "$backend" = gpu ] || [ -n "${TEST_RUNNER:-}" ] || [ "${KEEP:-0}" = 0 ] || keeping=yes
unset KEEP # scripts try this one as well
surroundings=$(${CXX:-g++} --version 2>&1 | head -1 | tr '\n' ' '
  env | grep -E '^(PATH|TMPDIR|LANG|LC_[A-Z]*|CUDA_[A-Z_]*|CXX|CATCH2_DIR|TEST_[A-Z_]*|[A-Z]*SAN_OPTIONS|CHAPTERS)=' | sort | tr '\n' ' ')
files=$(tree -print | sort | cksum)

# The longest come first, as the last run measured them, so that none is left alone at the end. One that has not
# been measured may be long, and a script more so.
longest_first() {
  printf '%s\n' "$@" | awk -v times="$times" '
    BEGIN { while ((getline line < times) > 0) { split(line, field, " "); took[field[2]] = field[1] } }
    { print ($0 in took ? took[$0] : /\.sh$/ ? 2e9 : 1e9), $0 }' | sort -s -k 1,1rn | cut -d ' ' -f 2-
}
times=$build/test_times
order=()
while read -r test; do [ -z "$test" ] || order+=("$test"); done < <(longest_first "$@")

# What make has compiled since MAKE_BEGAN, a file that it wrote when it began and that holds the second.
compiled=''
if [ -n "${MAKE_BEGAN:-}" ] && [ -e "$MAKE_BEGAN" ]; then
  compiled=$(find build -name '*.o' -newer "$MAKE_BEGAN" | cut -d / -f 2 | sort | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $2, $1 }')
  compiling=$(($(date +%s) - $(cat "$MAKE_BEGAN")))
fi

tests_begin=$(now_ms)
[ $# -gt 0 ] && echo
at_a_time=${AT_A_TIME:-$(($(cores) + 1))}
[ "$backend" != gpu ] || at_a_time=1
for ((turn = 0; turn < at_a_time; turn++)); do take_turns ${order[@]+"${order[@]}"} & done
wait
cat "$scratch"/*/found >"$results" 2>/dev/null

cat "$scratch"/*/took 2>/dev/null | sort -rn >"$scratch/took"
# A run of some tests knows nothing of the others.
awk '!($2 in seen) { seen[$2] = 1; print }' "$scratch/took" "$times" 2>/dev/null >"$scratch/times"
cp "$scratch/times" "$times"

step() { printf '  %-58s %9s\n' "$1" "$2"; }
seconds() { awk -v ms="$1" 'BEGIN { printf "%.1f s", ms / 1000 }'; }
printf '\nwhere the time went\n'
[ -z "$compiled" ] || step "compiling: $compiled files" "$compiling.0 s"
step "testing, $at_a_time at a time" "$(since "$tests_begin")"
head -6 "$scratch/took" | while read -r took _ name; do step "  $name" "$(seconds "$took")"; done

# One line per test case: the worst that happened to it.
totals=$(awk -F '\t' '
  { key = $1 "\t" $4; rank = $3 == "failed" ? 3 : $3 == "passed" ? 2 : 1
    if (rank > worst[key]) worst[key] = rank }
  END {
    for (key in worst) count[worst[key]]++
    printf "%d passed, %d failed, %d skipped\n", count[2], count[3], count[1]
  }' "$results")

unchanged=$(cat "$scratch"/*/unchanged 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
if [ "$unchanged" -gt 0 ]; then
  printf '\n%s of these passed before, and what they look at has not changed: FORCE=1 runs them again\n' "$unchanged"
fi

echo
if ! grep -q "$(printf '\t\\(passed\\|failed\\)\t')" "$results"; then
  echo "no test ran: that is a failure"
  echo "$totals"
  exit 1
fi
echo "$totals"
case $totals in *" 0 failed,"*) ;; *) exit 1 ;; esac
