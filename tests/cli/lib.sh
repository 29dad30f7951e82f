# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# What a command-line test needs. A script sources this, then for each test case:
#
#   test_case "a sentence about behaviour"
#   run COMMAND...              $status, $output (both streams), $out and $err are its result
#   expect TEXT COMMAND...      the command must succeed, else the case fails and TEXT is shown
#
# The next test_case, or the end of the script, closes a case. Cases are recorded for the runner as
# tests/catch_main.cpp does, in the file that TEST_RESULTS names.
set -u

current=''
current_status=passed
any_failed=0
# Commands under test see a plain environment: not this make, no terminal, no colours.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CH ARGS N V ARCH NVCC CATCH2_DIR
export NO_COLOR=1 LC_ALL=C
# Test programs that a script runs must not record their cases as the script's.
results=${TEST_RESULTS:-}
unset TEST_RESULTS
backend=${BACKEND:-cpu}
programs=${PROGRAMS_DIR:-build/$backend}
unset BACKEND
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 2

record() {
  if [ -n "$results" ]; then printf '%s\t%s\n' "$1" "$2" >>"$results"; fi
}
close_case() {
  [ -n "$current" ] || return 0
  record "$current_status" "$current"
  [ "$current_status" = failed ] || echo "$current_status: $current"
  current=''
}
test_case() {
  close_case
  current=$1
  current_status=passed
  record started "$current"
}
skip() {
  current_status=skipped
  echo "skipped: $1"
}
# skip_rest CASE WHY: the case is skipped, and the script ends.
skip_rest() {
  test_case "$1"
  skip "$2"
  exit
}
# needs_python CASE: $python is one, or the rest is skipped.
needs_python() { python=$(common/tools/setup/python.sh) || skip_rest "$1" "python3 is not here"; }
finish() {
  close_case
  rm -rf "$scratch"
  exit $any_failed
}
trap finish EXIT

# Runs a command with no input. Nothing is started to read what it wrote: a script runs hundreds.
run() {
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  out=$(<"$scratch/out")
  err=$(<"$scratch/err")
  # A busy machine may be slow enough for the race detector to say how far it is.
  if [[ $err == 'note: kernels run slower'* ]]; then
    err=${err#*$'\n'}
    [[ $err != 'note: kernels run slower'* ]] || err=''
  fi
  output=$out
  [ -z "$err" ] || output=${out:+$out$'\n'}$err
  last_command=$*
}

expect() {
  local text=$1
  shift
  "$@" && return 0
  [ "$current_status" = failed ] || echo "FAILED: $current"
  echo "  expected $text"
  echo "  after: $last_command"
  echo "  status $status, output:"
  printf '%s\n' "$output" | head -12 | sed 's/^/    /'
  current_status=failed
  any_failed=1
}

has() { case $1 in *"$2"*) ;; *) return 1 ;; esac; }
has_not() { ! has "$1" "$2"; }
lines_in() {
  local ends=${1//[!$'\n']/}
  if [ -z "$1" ]; then echo 0; else echo $((${#ends} + 1)); fi
}

expect_status() { expect "status $1" [ "$status" -eq "$1" ]; }
expect_failure() { expect "a failing status" [ "$status" -ne 0 ]; }
expect_output() { expect "output with: $1" has "$output" "$1"; }
expect_no_output() { expect "output without: $1" has_not "$output" "$1"; }
# answers STATUS TEXT COMMAND...: the command, which uses run, ends with that status ("fails": with any but 0) and
# prints the text.
answers() {
  local wanted=$1 text=$2
  shift 2
  "$@"
  if [ "$wanted" = fails ]; then expect_failure; else expect_status "$wanted"; fi
  expect_output "$text"
}
expect_one_line() { expect "one line" [ "$(lines_in "$output")" -eq 1 ]; }
expect_one_error_line() { expect "one line on stderr" [ "$(lines_in "$err")" -eq 1 ]; }
# The same, and that is all it prints, or all that it prints on stderr.
answers_in_a_line() { answers "$@"; expect_one_line; }
complains_in_a_line() { answers "$@"; expect_one_error_line; }

# Stand-ins for programs such as nvcc or apt-get, found before PATH where a case needs them: fake_command NAME SCRIPT
fake=$scratch/fake
mkdir -p "$fake"
fake_command() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$fake/$1"
  chmod +x "$fake/$1"
}
with_fakes() { env PATH="$fake:$PATH" "$@"; }

# all_but_managers FOLDER: links to all programs that stand here, but for those that install others. For PATH.
all_but_managers() {
  local folder
  mkdir -p "$1"
  for folder in /usr/local/bin /usr/bin /bin; do
    [ -d $folder ] && ln -sf $folder/* "$1/" 2>/dev/null
  done
  rm -f "$1"/{apt-get,dnf,pacman,zypper,brew,sudo}
}

# own_tree FOLDER [PART...]: a copy of the sources with what is compiled for every program (the files of
# build/cpu*/ that are no chapter's, and the mirrored sources) and PARTs of build/, all as old as they are
# here: so that a script builds in a folder where no other one does.
own_tree() {
  local tree=$1 part
  shift
  mkdir -p "$tree"
  cp -Rp Makefile chapters common tests "$tree/"
  {
    find build/cpu* -maxdepth 1 -type f ! -name '[0-9]*'
    ls -d build/tests build/cpu/src build/cpu*/obj/common
    for part in "$@"; do echo "build/$part"; done
  } 2>/dev/null >"$scratch/parts"
  while read -r part; do
    [ -e "$part" ] || continue
    mkdir -p "$tree/${part%/*}"
    cp -Rp "$part" "$tree/${part%/*}/"
  done <"$scratch/parts"
}

# The labs of a chapter, in whose folder a script has to be. mutant EXERCISE NAME: the text of a wrong solution
exercises=chapters/05_shared_tree_reduction/exercises
work=work/05_shared_tree_reduction
mutant() { "$python" common tools.checks.edits "$exercises/solutions.mutants" "$1/$2"; }
lab() { run make -s --no-print-directory "$1" BACKEND=cpu "${@:2}"; }
