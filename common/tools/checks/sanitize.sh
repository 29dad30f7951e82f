#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every chapter's program, at a small size, under the checkers of the backend. Prints one table of
# ok and FAIL, then the log of each FAIL.
#
#   sanitize.sh cpu 'CHAPTER...' TEST_PROGRAM...   AddressSanitizer + UBSan, the backend's race detector and, with
#                                                  TSAN=1, ThreadSanitizer; the test programs too
#   sanitize.sh gpu 'CHAPTER...'                   the four tools of compute-sanitizer
set -u
tools=$(dirname "$(dirname "$0")")
. "$tools/run/terminal.sh"

backend=$1
# shellcheck disable=SC2206  # chapter names are words
chapters=($2)
shift 2
failed_logs=()
runs=0
stop_on_interrupt

# attempt LOG COMMAND...: adds the command's output to LOG and ok or FAIL to LOG.cell
attempt() {
  local log=$1 status
  shift
  limited "${TEST_TIMEOUT:-600}" "$@" >>"$log" 2>&1
  status=$?
  [ $status -eq 124 ] && echo "stopped after ${TEST_TIMEOUT:-600} seconds" >>"$log"
  if [ $status -eq 0 ]; then echo ok; else echo FAIL; fi >>"$log.cell"
}

# cell_of LOG: ok if every attempt was
cell_of() {
  runs=$((runs + $(wc -l <"$1.cell")))
  cell=ok
  if ! grep -q ok "$1.cell" || grep -q FAIL "$1.cell"; then
    cell=FAIL
    failed_logs+=("$1")
  fi
}

start_log() {
  : >"$1"
  : >"$1.cell"
}

row() { printf '| %-32s |' "$1"; shift; printf ' %-12s |' "$@"; printf '\n'; }

# run_small LOG CHAPTER PROGRAM [PREFIX...]: all small runs of one chapter
run_small() {
  local log=$1 chapter=$2 program=$3 options
  shift 3
  start_log "$log"
  while read -r options; do
    # shellcheck disable=SC2086  # options are words
    attempt "$log" "$@" "$program" $options
  done < <("$tools/run/small_args.sh" "$chapter" "$program")
}

if [ "$backend" = gpu ]; then
  if ! command -v compute-sanitizer >/dev/null 2>&1; then
    echo "make sanitize BACKEND=gpu needs compute-sanitizer: it comes with the CUDA toolkit (its bin folder must be on PATH)" >&2
    exit 2
  fi
  if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    echo "make sanitize BACKEND=gpu needs a GPU, and nvidia-smi lists none; BACKEND=cpu checks without one" >&2
    exit 77
  fi
  logs=build/gpu/sanitize
  mkdir -p $logs
  checkers=(memcheck racecheck initcheck synccheck)
  echo
  row chapter "${checkers[@]}"
  row -------- -------- -------- -------- --------
  for chapter in "${chapters[@]}"; do
    cells=()
    for checker in "${checkers[@]}"; do
      run_small "$logs/${chapter##*/}.$checker.log" "$chapter" "build/gpu/$chapter" \
        compute-sanitizer --tool "$checker" --error-exitcode 86
      cell_of "$logs/${chapter##*/}.$checker.log"
      cells+=("$cell")
    done
    row "$chapter" "${cells[@]}"
  done
else
  # Older ThreadSanitizers give up where the kernel randomises addresses a lot.
  fixed=()
  if setarch "$(uname -m)" -R true 2>/dev/null; then fixed=(setarch "$(uname -m)" -R); fi
  export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
  export TEST_SIZES=small
  export TSAN_OPTIONS="exitcode=66:${TSAN_OPTIONS:-}"
  variants=(cpu-asan cpu-xray)
  titles=("ASan+UBSan" races)
  rule=(---------- ----------)
  if [ -n "${TSAN:-}" ] && [ "$TSAN" != 0 ]; then
    variants+=(cpu-tsan)
    titles+=(TSan)
    rule+=(----------)
  fi
  for variant in "${variants[@]}"; do mkdir -p "build/$variant/sanitize"; done
  # The race detector watches only where this is set.
  setting_of() { if [ "$1" = cpu-xray ]; then echo CUDA_CPU_RACES=1; else echo CUDA_CPU_RACES=0; fi; }
  echo
  row program "${titles[@]}"
  row ------- "${rule[@]}"
  # As many programs at a time as there are cores; each under all checkers, one after the other.
  begun=()
  log_of() { # VARIANT NAME
    case $2 in
      tests/*) echo "build/$1/sanitize/$(basename "$2").test.log" ;;
      *) echo "build/$1/sanitize/${2##*/}.log" ;;
    esac
  }
  end_of_turn() {
    local name cells variant
    wait
    for name in ${begun[@]+"${begun[@]}"}; do
      cells=()
      for variant in "${variants[@]}"; do
        cell_of "$(log_of "$variant" "$name")"
        cells+=("$cell")
      done
      row "$name" "${cells[@]}"
    done
    begun=()
  }
  begin() { # NAME of a chapter, or of a test: tests/NAME
    local name=$1 variant log
    for variant in "${variants[@]}"; do
      log=$(log_of "$variant" "$name")
      case $name in
        tests/*)
          start_log "$log"
          attempt "$log" ${fixed[@]+"${fixed[@]}"} env "$(setting_of "$variant")" "build/$variant/$name.test"
          ;;
        *) run_small "$log" "$name" "build/$variant/$name" ${fixed[@]+"${fixed[@]}"} env "$(setting_of "$variant")" ;;
      esac
    done
  }
  names=("${chapters[@]}")
  for test in "$@"; do
    case $test in build/cpu-asan/*) test=${test#build/cpu-asan/}; names+=("${test%.test}") ;; esac
  done
  for name in "${names[@]}"; do
    begin "$name" &
    begun+=("$name")
    [ ${#begun[@]} -lt "$(cores)" ] || end_of_turn
  done
  end_of_turn
fi

if [ ${#failed_logs[@]} -gt 0 ]; then
  for log in "${failed_logs[@]}"; do
    printf '\n%s%s%s\n' "$red" "$log" "$plain"
    grep -v '^ *|' "$log" | head -30 | sed 's/^/  | /'
  done
  printf '\n%d of %d runs with complaints\n' "${#failed_logs[@]}" "$runs"
  exit 1
fi
printf '\n%d runs, no complaint\n' "$runs"
