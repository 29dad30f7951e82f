#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Mutants are read as they are written, and an edit that says something else than it seems is refused.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "mutants as edits"

here=$PWD
exercises=chapters/99_sums/exercises
solution=chapters/99_sums/sums.cu
mutants=tests/99_sums.mutants
labs=$exercises/solutions.mutants
mkdir -p "$scratch/tree/tests" "$scratch/tree/$exercises/solutions"
cd "$scratch/tree" || exit 1
cat >$solution <<'END'
int sum(const int* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    step();
  }
  step();
  return sum;  // of all
}
END
cp $solution $exercises/solutions/ex1_sum.cu
cp $solution $exercises/solutions/ex2_again.cu
echo 'int twice(int x) { return 2 * x; }' >chapters/99_sums/twice.cuh

edits() { run "$python" "$here/common" tools.checks.edits "$@"; }
# written: the file of mutants is what is on stdin
written() { cat >"${1:-$mutants}"; }
# changed NAME SED_SCRIPT: the mutant is the solution changed that way
changed() {
  edits "${3:-$mutants}" "$1"
  expect_status 0
  expect "the edit made" cmp -s "$scratch/out" <(sed "$2" $solution)
}

test_case "text is replaced where it stands, and a blank in it matches a line's end"
written <<'END'
# A comment.
too_far: i < n => i <= n
no_sum: sum += x[i]; step(); => step();
comment_goes: // of all =>
END
changed too_far 's/i < n/i <= n/'
changed no_sum '/sum += /{N;s/sum.*step/step/}'
changed comment_goes 's/ \/\/ of all/ /'

test_case "several edits are made to the program as it is, whichever comes first"
written <<'END'
swapped:
  i = 0 => i = sum
  sum = 0 => sum = i
END
changed swapped 's/ sum = 0/ sum = i/; s/i = 0/i = sum/'

test_case "a block replaces whole lines, and @@ parts two"
written <<'END'
block:
-  int sum = 0;
+  int sum = 1;
+  step();
-    sum += x[i];
@@
-  step();
-  return sum;  // of all
+  return sum;
END
changed block '2c\  int sum = 1;\n  step();
4d; 7d; 8s/  \/\/.*//'

test_case "@name stands for lines of the program that were named once"
written <<'END'
@loop: for (int i ... }
@start: int sum = 0;
no_loop:
@loop
+  sum = n;
all_but_one:
@start
+  int sum = x[0];
@loop
-  step();
END
changed no_loop '3,6d;2a\  sum = n;'
changed all_but_one '3,7d;2c\  int sum = x[0];'
written $labs <<'END'
[ex1_sum]
@loop: for (int i ... }
first:
@loop
[ex2_again]
@loop: for (int i ... step
first:
@loop
END
changed ex1/first '3,6d' $labs
changed ex2/first '3,5d' $labs

test_case "each gives a mutant for every place, regex takes a pattern, a kind belongs to it"
written <<'END'
no_step [each]: step(); =>
by_pattern [regex, sanitize]: ^  return (\w+);.*$ => return -\1;
elsewhere [in twice.cuh]: 2 * => 3 *
in_both [in sums.cu twice.cuh]: return =>
END
edits $mutants
expect_status 0
expect_output "$mutants:1: no_step.1"
expect_output "$mutants:1: no_step.2"
expect_output "+return -sum;"
expect_output "+int twice(int x) { return 3 * x; }"
expect_output "$mutants:4: in_both.sums.cu"
expect_output "$mutants:4: in_both.twice.cuh"
edits $mutants no_step.2
expect "the second one gone" cmp -s "$scratch/out" <(sed '7s/step();//' $solution)

test_case "one file has all exercises of a chapter, and sections say which are to be rejected and which to pass"
written $labs <<'END'
[ex1_sum]
first: i < n => i <= n
[evasions]
# By luck.
second: i = 0 => i = n
[right]
third: sum = 0 => sum = 0 + 0
[ex2_again]
first: i < n => i + 1 < n
END
edits $labs
expect_status 0
expect_output "$labs:2: ex1_sum/first"
expect_output "$labs:5: ex1_sum/second"
expect_output "$labs:7: ex1_sum/third [right]"
expect_output "$labs:9: ex2_again/first"
run "$python" -c 'import sys
sys.path.insert(0, sys.argv[1])
from common.tools.checks import edits
for exercise in (None, "ex1_sum", "ex2_again"):
    print(*(f"{mutant.exercise}:{mutant.section}" for mutant in edits.read(sys.argv[2], exercise)), end=" / ")' \
  "$here" $labs
expect "a section for each, which ends with its exercise" [ "$output" = "\
ex1_sum:wrong ex1_sum:evasions ex1_sum:right ex2_again:wrong / ex1_sum:wrong ex1_sum:evasions ex1_sum:right / ex2_again:wrong / " ]

test_case "EXERCISE/NAME is one of an exercise, EXERCISE all of it; NAME alone where only one has it"
changed ex2/first 's/i < n/i + 1 < n/' $labs
changed ex1_sum/first 's/i < n/i <= n/' $labs
changed third 's/sum = 0/sum = 0 + 0/' $labs
for exercise in ex2 ex2_again; do
  edits $labs $exercise
  expect_status 0
  expect_output "$labs:9: ex2_again/first"
  expect_no_output ex1_sum
done
# no NAME TEXT: no mutant of that name; the line says TEXT
no() {
  complains_in_a_line 1 "$labs: $2" edits $labs "$1"
}
no first "first of which exercise? there are: ex1_sum/first, ex2_again/first"
no ex2/second "no mutant second; there are: first"
no fourth "no mutant fourth; there are: ex1_sum/first, ex1_sum/second"
no ex3/first "no exercise ex3; there are: ex1_sum, ex2_again"

# refused_in FILE WHAT LINE TEXT MUTANT...: these lines of mutants are refused in one line that names LINE and says TEXT
refused_in() {
  test_case "refused: $2"
  printf '%s\n' "${@:5}" >"$1"
  complains_in_a_line 1 "$1:$3: $4" edits --check "$1"
}
refused() { refused_in $mutants "$@"; }
refused_of_labs() { refused_in $labs "$@"; }
refused "text that is not there" 2 "b: must stand exactly once in $solution, stands there not at all: i < m" \
  'a: i < n => i <= n' 'b: i < m => i <= m'
refused "text that stands there twice" 2 "b: must stand exactly once in $solution, stands there 2 times (lines 5, 7)" \
  'a: i < n => i <= n' 'b: step(); =>'
refused "text that is not there, of each" 1 "a: must stand at least once" \
  'a [each]: stop(); =>'
refused "a block that is not there" 2 "a: must stand exactly once in $solution, stands there not at all: sum += x[i]; / stop();" \
  'a:' '-    sum += x[i];' '-    stop();'
refused "a block that is part of a line" 2 "a: must stand exactly once" \
  'a:' '-  return sum;' '+  return 0;'
refused "named lines that begin as none does" 1 "@loop: one line of $solution must begin so, none does: while (i" \
  '@loop: while (i ... }' 'a:' '@loop' 'b: i < n => i <= n'
refused "named lines that begin as two do" 1 "@step: one line of $solution must begin so, lines 5, 7 do: step();" \
  '@step: step();' 'a:' '@step'
refused "named lines that end nowhere" 1 "@loop: no line below line 3 of $solution begins so: done" \
  '@loop: for (int i ... done' 'a:' '@loop'
refused "lines that nobody named" 2 "a: @loop is not named above" \
  'a:' '@loop'
refused_of_labs "lines of another exercise" 7 "a: @loop is not named above" \
  '[ex1_sum]' '@loop: for (int i ... }' 'a:' '@loop' '[ex2_again]' 'a: i < n => i <= n' '@loop'
refused "a name for lines that no edit uses" 1 "no edit is made to @loop" \
  '@loop: for (int i ... }' 'a: i < n => i <= n'
refused "a name for lines that was given before" 2 "line 1 has named @loop already" \
  '@loop: for (int i ... }' '@loop: int sum = 0;' 'a:' '@loop'
refused "a name that was given before" 3 "a: line 1 has this name already" \
  'a: i < n => i <= n' '' 'a: i = 0 => i = 1'
refused "two mutants that are the same program" 2 "b: makes the same program as a of line 1" \
  'a: i < n => i <= n' 'b: 0; i < n; => 0; i <= n;'
refused "edits that meet" 1 "a: two of its edits meet in line 3" \
  'a:' '  i < n => i <= n' '  n; ++i => n; i += 2'
refused "an edit that changes nothing" 1 "a: changes nothing: i < n => i < n" \
  'a: i < n => i < n'
refused "a line without an arrow" 1 "a: expected OLD => NEW, found: i < n" \
  'a: i < n'
refused "a name without an edit" 1 "a: has no edit" \
  'a:' 'b: i < n => i <= n'
refused "a line that is nothing" 2 "expected NAME: OLD => NEW" \
  'a: i < n => i <= n' 'i = 0 => i = 1'
refused "an edit before any name" 1 "an edit before any NAME" \
  '  i < n => i <= n'
refused "lines that come in place of none" 2 "a: lines with + need lines with -" \
  'a:' '+  step();'
refused "a word in brackets that means nothing" 1 "a: [every] is not known here; there are: each, regex, in FILE" \
  'a [every]: step(); =>'
refused_of_labs "a kind that labs do not have" 2 "a: [sanitize] is not known here" \
  '[ex1_sum]' 'a [sanitize]: i < n => i <= n'
refused "each with two edits" 1 "a: 'each' goes with one edit, 2 are here" \
  'a [each]:' '  step(); =>' '  i = 0 => i = 1'
refused "a broken pattern" 1 "a: no regular expression" \
  'a [regex]: (i < n => i'
refused "a replacement that asks for a group that is not there" 1 "a: this replacement does not fit" \
  'a [regex]: i < n => \3'
refused "a file that is not there" 1 "a: no such file: chapters/99_sums/other.cu" \
  'a [in other.cu]: i < n => i <= n'
refused_of_labs "a section that nobody knows" 2 "[rihgt] is no section here; there are: exN_topic, evasions, wrong, right" \
  '[ex1_sum]' '[rihgt]' 'a: i < n => i <= n'
refused_of_labs "an edit between a section and its first name" 4 "an edit before any NAME: i = 0 => i = 1" \
  '[ex1_sum]' 'a: i < n => i <= n' '[right]' '  i = 0 => i = 1'
refused_of_labs "a mutant of no exercise" 1 "a: expected a line [exN_topic] before the first mutant" \
  'a: i < n => i <= n'
refused_of_labs "an exercise that begins twice" 3 "line 1 begins [ex1_sum] already" \
  '[ex1_sum]' 'a: i < n => i <= n' '[ex1_sum]' 'b: i = 0 => i = 1'
refused_of_labs "mutants of a solution that is not there" 1 "$exercises/solutions/ex3_gone.cu, whose mutants these are, is not there" \
  '[ex3_gone]' 'a: b => c'
refused "sections among the bugs that a chapter's tests reject" 1 "[wrong] is no section here; only exercises have sections" \
  '[wrong]'

test_case "what is wrong with another exercise does not keep one from being read, but what is missing does"
written $labs <<'END'
[ex1_sum]
a: i < m => i <= m
[ex2_again]
a: i < n => i <= n
END
for exercise in ex1_sum ex2_again ex3_gone; do
  run "$python" -c 'import sys
sys.path.insert(0, sys.argv[1])
from common.tools.checks import edits
try:
    print(*(mutant.label for mutant in edits.read(*sys.argv[2:])))
except edits.Wrong as wrong:
    print(wrong)' "$here" $labs $exercise
  case $exercise in
    ex1_sum) expect_output "$labs:2: a: must stand exactly once in $exercises/solutions/ex1_sum.cu" ;;
    ex2_again) expect "its mutant" [ "$output" = a ] ;;
    *) expect "one line" [ "$output" = "$labs: has no line [ex3_gone]" ] ;;
  esac
done

test_case "all that is wrong is said at once, a line for each"
written <<'END'
a: i < m => i <= m
b: i < k => i <= k
END
edits --check $mutants
expect_status 1
expect "two lines on stderr" [ "$(lines_in "$err")" -eq 2 ]

test_case "mutants of a program that is not there, or of nothing, are refused"
written tests/98_gone.mutants <<<'a: b => c'
complains_in_a_line 1 "chapters/98_gone/gone.cu, whose mutants these are, is not there" edits --check tests/98_gone.mutants
written chapters/99_sums/sums.mutants <<<'a: b => c'
complains_in_a_line 1 "expected tests/NN_name.mutants or chapters/NN_name/exercises/solutions.mutants" \
  edits --check chapters/99_sums/sums.mutants

test_case "a mutant that nobody wrote is refused, with the names there are"
written <<<'a: i < n => i <= n'
edits $mutants b
expect_status 1
expect_output "$mutants: no mutant b; there are: a"

test_case "every mutant of this repository applies"
cd "$here" || exit 1
edits --check tests/*.mutants chapters/*/exercises/*.mutants
expect_status 0
expect "nothing said" [ -z "$output" ]
