#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every chapter's program as a user calls it: a mistake gets one line and the right exit status before anything runs.
# Experiments share all of that with them, so of those only a small run is tried. Without a GPU all runs are watched by
# the race detector: what it reports ends the program with another status.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# Options of the program that take a number, from its --help.
numeric_options() { "$1" --help | sed -n 's/^  \(--[a-z-]*\) N .*/\1/p'; }

# A usage error: status 2, one line on stderr that names what was given, no table.
expect_usage_error() {
  expect_status 2
  expect_one_error_line
  expect_output "$1"
  expect "nothing on standard output" [ -z "$out" ]
}

# Runs a program on a device of 2 GiB, whatever this machine has: the CPU backend plays one with half of the
# memory that the shell allows. No chapter's largest size fits in there.
no_limit_here=99
on_a_small_device() {
  (
    ulimit -v $((4 * 1024 * 1024)) 2>/dev/null || exit $no_limit_here
    "$@"
  )
}

# The second line of a source is its question and nothing else: make list and the front page print it.
expect_question() {
  run sed -n 2p "$1"
  expect "a question in the second line of $1" [ "${out: -1}" = "?" ]
}

# The names in a table's first column stand within it: its lines have their second | in one place.
names_fit() {
  printf '%s\n' "$out" | awk -F '|' '!/^\|/ { width = 0; next } width && length($2) != width { exit 1 } { width = length($2) }'
}

small_options() { common/tools/run/settings.sh small "$1" | head -1; }

export CUDA_CPU_RACES=all

# What [small] says: each run ends with status 0, or, where it shows a bug on purpose, fails and says so.
for program in ${CHAPTERS:-$(cd "$programs" 2>/dev/null && ls -d [0-9][0-9]_*)}; do
  topic=${program#*_}
  [ ! -f "chapters/$program/$topic.cu" ] || continue
  source=$(echo chapters/"${program%%_*}"_*/experiments/"$topic".cu)
  test_case "${program%%_*} $topic: its question stands in its first line, its small runs end as settings say, without a race"
  expect_question "$source"
  while read -r options; do
    # shellcheck disable=SC2086  # options are words
    run "$programs/$program" $options
    if [ $status -eq 77 ]; then skip "no usable GPU"; break; fi
    expect_status 0
    expect "names that fit their column" names_fit
  done < <(common/tools/run/settings.sh small "$program")
  if grep -q common.cuh "$source"; then
    test_case "${program%%_*} $topic: --list names versions, or says that there are none"
    # shellcheck disable=SC2046  # options are words
    run "$programs/$program" --list $(common/tools/run/settings.sh small "$program" | head -1)
    if [ $status -eq 2 ]; then expect_usage_error "--list: there are no versions"; else expect "a version" [ -n "$out" ]; fi
  fi
  [ "$backend" = cpu ] || continue
  while read -r options; do
    # shellcheck disable=SC2086  # options are words
    run "$programs/$program" ${options%%=>*}
    expect_failure
    expect_output "${options#*=> }"
  done < <(common/tools/run/settings.sh bugs "$program")
done

for chapter in ${CHAPTERS:-$(cd "$programs" 2>/dev/null && ls -d [0-9][0-9]_*)}; do
  program=$programs/$chapter
  number=${chapter%%_*}
  [ -f "chapters/$chapter/${chapter#*_}.cu" ] || continue
  if ! grep -q common.cuh "chapters/$chapter/${chapter#*_}.cu"; then
    test_case "$number: it runs, and says that all results are right"
    answers 0 "1000 of 1000" run "$program"
    continue
  fi
  test_case "$number: its question stands in its first line, its small runs are right and without a race"
  expect_question "chapters/$chapter/${chapter#*_}.cu"
  while read -r options; do
    # shellcheck disable=SC2086  # options are words
    run "$program" $options
    if [ $status -eq 77 ]; then skip "no usable GPU"; break; fi
    expect_status 0
  done < <(common/tools/run/settings.sh small "$chapter")
  read -r -a small <<<"$(small_options "$chapter" "$program")"

  test_case "$number: what notes and decks tell a reader to type is there"
  if python=$(common/tools/setup/python.sh); then
    run "$python" common tools.checks.commands "$programs" "$chapter"
    expect_status 0
  else
    skip "python3 is not here"
  fi

  test_case "$number: --help prints the options and the exit statuses"
  answers 0 "--csv" run "$program" --help
  expect_output "77"

  test_case "$number: --list names the versions, and --only runs each alone"
  run "$program" --list ${small[@]+"${small[@]}"}
  expect_status 0
  versions=$(printf '%s\n' "$out" | awk '{ print $1 }')
  expect "at least one version" [ -n "$versions" ]
  for version in $versions; do
    run "$program" ${small[@]+"${small[@]}"} --only "$version"
    if [ $status -eq 77 ]; then skip "no usable GPU"; break; fi
    expect_status 0
    expect_output "| $version "
    expect "one version in the table" [ "$(printf '%s\n' "$out" | grep -c ' ok |')" -le 1 ]
  done

  test_case "$number: an unknown option, a stray word, a missing value are usage errors"
  run "$program" --bogus
  expect_usage_error "--bogus"
  run "$program" stray
  expect_usage_error "stray"
  run "$program" --samples
  expect_usage_error "--samples"

  test_case "$number: an unknown version is a usage error that names those there are"
  run "$program" ${small[@]+"${small[@]}"} --only nonesuch
  expect_usage_error "nonesuch"
  expect_output "$(printf '%s\n' "$versions" | head -1)"

  test_case "$number: junk, negative, overlong and huge numbers are usage errors"
  for option in $(numeric_options "$program"); do
    for value in junk 12x 1.5 -1 "" " 5" 5Kb 0x10 9223372036854775808 99999999999999999999 16777216Ti; do
      # A seed may be any 63-bit number; everything else in this list is wrong for every option.
      run "$program" "$option" "$value"
      expect_usage_error "$option"
    done
  done

  test_case "$number: zero is refused where it makes no sense"
  for option in $(numeric_options "$program"); do
    case $option in --n | --m | --k | --block | --grid | --samples) ;; *) continue ;; esac
    run "$program" "$option" 0
    expect_usage_error "$option 0"
  done

  test_case "$number: a CSV that cannot be written is a usage error before anything runs"
  run "$program" ${small[@]+"${small[@]}"} --csv "$scratch/no/such/folder/x.csv"
  if [ $status -eq 77 ]; then
    skip "no usable GPU"
  else
    expect_usage_error "no/such/folder"
    run "$program" ${small[@]+"${small[@]}"} --csv "$scratch"
    expect_usage_error "$scratch"
  fi

  test_case "$number: --help and --list on a full disk say so in one line, and fail"
  if [ ! -w /dev/full ]; then
    skip "no /dev/full here"
  else
    for option in --help "--list ${small[*]}"; do
      status=0
      # shellcheck disable=SC2086  # options are words
      "$program" $option >/dev/full 2>"$scratch/err" || status=$?
      out='' err=$(<"$scratch/err") output=$err last_command="$program $option >/dev/full"
      expect_failure
      expect_one_error_line
      expect_output "standard output"
    done
  fi

  # Sizes past the device are tried on the CPU backend only: a large GPU would try them out.
  if [ "$backend" = cpu ] && numeric_options "$program" | grep -qx -e --n; then
    test_case "$number: a size beyond the device is refused with bytes asked and bytes free"
    most=$("$program" --n junk 2>&1 | sed -n 's/.* to \([0-9]*\) .*/\1/p')
    matrix=()
    numeric_options "$program" | grep -qx -e --k && matrix=(--m 1 --k "$most")
    run on_a_small_device "$program" --n "$most" ${matrix[@]+"${matrix[@]}"} --samples 1
    if [ $status -eq $no_limit_here ]; then
      skip "this system knows no ulimit -v"
    else
      expect_usage_error "n = "
      expect "bytes asked and bytes free" has "$err" "bytes"
      expect "what is free" has "$err" "free"
    fi
  fi
done
