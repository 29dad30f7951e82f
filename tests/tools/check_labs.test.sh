#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make check-labs notices labs that are broken: one thing at a time, in a copy of the tree.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

common/tools/setup/python.sh >/dev/null || skip_rest "make check-labs" "python3 is not here"

tree=$scratch/tree
own_tree "$tree" labs/{channel,report}.{o,d}
cd "$tree" || exit 1

check_labs() { run make -s --no-print-directory check-labs BACKEND=cpu CH=05 EX=1 JOBS=2; }

test_case "make check-labs is content with exercise 1 of chapter 05"
check_labs
expect_status 0
expect_output "0 complaints"

test_case "SHARE=k/n tries a part of the mutants, and the parts are all of them"
share() { run make -s --no-print-directory check-labs BACKEND=cpu CH=05 EX=1 JOBS=2 SHARE="$1"; }
answers 0 "7 mutants rejected" share 1/2
answers 0 "7 mutants rejected" share 2/2
answers 2 "SHARE=3/2: expected k/n" share 3/2

test_case "of starters and solutions a part tries a larger part, each lab's two together, and the parts are all of them"
run "$(common/tools/setup/python.sh)" -c '
import sys
sys.path.insert(0, ".")
from common.labs import catalogue, check_labs

labs = catalogue.labs_of("05_shared_tree_reduction")
trials = [check_labs.Try(lab, role, "", "cpu") for lab in labs for role in ("starter", "solution")]
parts = [check_labs.share_of(trials, f"{k}/10") for k in range(1, 11)]
print("whole" if set(sum(parts, [])) == set(trials) else "not whole")
print("halves" if {len(part) for part in parts} == {len(trials) // 2} else "other parts")
print("pairs" if all({t.role for t in part if t.lab is lab} != {"starter"} for part in parts for lab in labs) else "single")'
expect_status 0
expect_output "whole"
expect_output "halves"
expect_output "pairs"

# broken NAME FILE SED_SCRIPT TEXT: with FILE changed that way make check-labs says TEXT
broken() {
  test_case "make check-labs notices $1"
  cp -p "$2" "$scratch/kept"
  sed "$3" "$scratch/kept" >"$2"
  check_labs
  expect_failure
  expect_output "$4"
  cp -p "$scratch/kept" "$2"
}
starter=$exercises/ex1_block_sum.cu
solution=$exercises/solutions/ex1_block_sum.cu
broken "a starter that passes" $starter 's/partial\[kBlocks\]/partial[kThreads]/' "must fail 'every block"
broken "a starter that warns" $starter 's/long long sum = 0;/long long sum = 0; int unused;/' "compiles with a warning"
broken "a starter that does not compile" $starter 's/sum += partial\[k\]/sum += partial[q]/' "it does not compile"
broken "a starter that crashes" $starter 's/partial\[kBlocks\]/partial[kThreads]/; s/if (t == 0) {/& std::abort();/' \
  "it crashes: SIGABRT"
broken "a starter that never ends" $starter \
  's/partial\[kBlocks\]/partial[kThreads]/; s/if (t == 0) {/& for (volatile int i = 1; i != 0;) {}/' "it never ends"
broken "a stored report that is not what the check says of the starter" $exercises/starters.txt 's/thread (8,0,0)/thread (9,0,0)/' \
  "$exercises/starters.txt does not have what the check says of it; run: common/labs/labs.sh starters CH=05"
broken "a solution that is wrong" $solution 's/  __shared__/  if (t == 1) return;\n&/' "must pass"
broken "a solution that differs outside of the TODO" $solution 's/, kernels*//; s/const unsigned t =/const int t =/' \
  "differs from the starter outside of the TODO"
mutants=$exercises/solutions.mutants
broken "a lab of whose wrong solutions fewer than three are evasions" $mutants 's/^\[evasions\]/[wrong]/' "below [evasions]: at least 3"
at=$mutants:$(sed -n '/^no_guard:/{=;q;}' $mutants)
broken "a mutant that is right, and names its line" $mutants 's/^no_guard: .*/no_guard: sum = 0; => sum = 0 + 0;/' \
  "$at: no_guard (cpu-xray): must be rejected, but it passes"
broken "a mutant that does not compile" $mutants 's/^no_guard: .*/no_guard: i < n ? x[i] : 0 => y[i]/' \
  "$at: no_guard (cpu-xray): must be rejected, but it does not compile"
broken "a mutant that differs outside of the TODO" $mutants 's/^no_guard: .*/no_guard: unsigned t = => int t =/' \
  "$at: no_guard: differs from the starter outside of the TODO"
broken "a mutant whose edit does not apply" $mutants 's/^no_guard: .*/no_guard: i < m => i <= m/' \
  "$at: no_guard: must stand exactly once in $solution, stands there not at all: i < m"
check=$exercises/ex1_block_sum.check.cu
broken "a demand for speed that no wrong solution fails" $check 's/^#include "common.labs.counts.*/&\n#include "common\/labs\/speed.cuh"/' \
  "has a line \`// TOO SLOW: NAME, ...\`"
broken "a wrong solution that is too slow, and is none" $check \
  's/^#include "common.labs.counts.*/&\n#include "common\/labs\/speed.cuh"\n\/\/ TOO SLOW: nothing_like_it/' "has no ex1_block_sum/nothing_like_it"
broken "too few mutants" $mutants '/^slots_for_all_blocks:/,/^\[right/{/^\[right/!d;}' "$mutants: [ex1_block_sum] 1 mutants: at least 3"
broken "a hint that is empty" $exercises/README.md 's/^Run the check and read the first line.*//' "says nothing"
# shellcheck disable=SC2016  # Markdown's backquotes
broken "a hint that gives the solution" $exercises/README.md \
  's/^Run the check and read the first line/`__shared__ long long partial[kThreads];` &/' "contains the solution's line"
broken "a missing points line" $exercises/README.md '/^\[ex1_block_sum/d' "is missing"
broken "a check that compares nothing" $check '/^namespace/,/^}  .. namespace/d; /lab::Trials().s/,/^  });/d; /lab::Trials()$/,/^      });/d' "must pass, but it fails"

test_case "make check-labs notices mutants of an exercise that is not there"
run "$(common/tools/setup/python.sh)" -c 'import sys
from common.labs import catalogue, check_labs
chapter = "05_shared_tree_reduction"
complain = lambda: check_labs.complaints_about_chapters(catalogue.labs_of(chapter), [chapter])
before = complain()
with open(sys.argv[1], "a") as file:
    file.write("\n[ex9_gone]\na: b => c\n")
print(before, complain())' $mutants
expect_output "[] [('$mutants', '[ex9_gone] belongs to no exercise')]"

sed -i.bak '/^\[right\]/,$d' $mutants && rm $mutants.bak
printf '[right]\nother_name_of_0: sum = 0 => sum = 0 + 0\n' >>$mutants
test_case "make check-labs passes right solutions of other kinds"
check_labs
expect_status 0
expect_output "1 alternatives pass"
at=$mutants:$(sed -n '/^other_name_of_0:/=' $mutants)
broken "an alternative that is wrong" $mutants 's/0 + 0/1/' "$at: other_name_of_0 (cpu-xray): must pass"
broken "an alternative that warns" $mutants 's/0 + 0/0; int unused/' "compiles with a warning"

test_case "a mutant that does not compile is rejected only by what nvcc would say as well"
run "$(common/tools/setup/python.sh)" -c 'import sys
from common.labs import catalogue, check_labs, outcome
lab = catalogue.labs_of("05_shared_tree_reduction")[0]
trial = check_labs.Try(lab, "mutant", lab.solution, "cpu-xray")
for said in sys.argv[1:]:
    print(said.split()[-1], bool(trial.complaint(outcome.Outcome("build", output=said), "")))' \
  "work/x.cu:3: error: host code names 'n', a __device__ variable" \
  "work/x.cu:3: error: device code calls 'f'" \
  "work/x.cu:3: error: std::swap is for the host" \
  "work/x.cu:3:7: error: 'host code names' was not declared"
expect "three rejected, one that is a mistake" [ "$output" = "$(printf '%s\n' 'variable False' "'f' False" 'host False' 'declared True')" ]
