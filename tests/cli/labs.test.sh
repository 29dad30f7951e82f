#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The labs as somebody who learns types them, in a copy of the tree.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

needs_python "the labs' verbs"

tree=$scratch/'a "tree"'
own_tree "$tree" labs/{channel,report}.{o,d} labs/cpu labs/cpu-xray
home=$PWD
cd "$tree" || exit 1

test_case "make lab copies the first exercise to work/ and says what is wrong, where, and what to type"
lab lab CH=05
expect_failure
expect "the starter in work/" cmp -s "$work/ex1_block_sum.cu" "$exercises/ex1_block_sum.cu"
expect_output "every block leaves the sum of its own elements"
expect_output "open      $work/ex1_block_sum.cu:17"
expect_output "at        n = 1, block 64, random values"
expect_output "out-of-bounds write in kernel 'sum_of_block'"
expect_output "make lab CH=05 EX=1"
expect_output "make hint CH=05 EX=1"

test_case "make lab never overwrites what somebody wrote"
echo '// mine' >>"$work/ex1_block_sum.cu"
lab lab CH=05 EX=1
expect "the line that was added" grep -q '^// mine$' "$work/ex1_block_sum.cu"

test_case "a solution passes under every order of threads, and make lab without EX goes on to the next exercise"
cp $exercises/solutions/ex1_block_sum.cu $work/
answers 0 "5 thread orders, no race" lab lab CH=05 EX=1
expect_output "make lab CH=05 EX=2"
answers fails "exercise 2:" lab lab

test_case "make lab without EX tells a pass that nobody has been told of, before it goes on"
sed 's/sum += partial/sum = sum + partial/' $exercises/solutions/ex1_block_sum.cu >$work/ex1_block_sum.cu
answers fails "passed    every block leaves the sum of its own elements" lab lab
expect_output "(5 thread orders, no race)"
expect_output "make solution CH=05 EX=1"
expect_output "exercise 2:"
lab lab
expect_no_output "passed  "
cp $exercises/solutions/ex1_block_sum.cu $work/

test_case "a report of the CPU backend about a later try says at which size that was"
sed 's/= sum;/= sum + (n == 1);/; s/i < n ?/i < n || n > 32 ?/' $exercises/solutions/ex1_block_sum.cu >$work/ex1_block_sum.cu
answers fails "at        n = 1, block 64, random values" lab lab CH=05 EX=1
expect_output "the CPU backend says, at n = 33, block 64, random values:"
cp $exercises/solutions/ex1_block_sum.cu $work/

test_case "a prediction that is wrong is opened at its own line"
sed 's/\(kWarpsSequentialAt64 =\) 2/\1 3/' $exercises/solutions/ex4_wavefronts.cu >$work/ex4_wavefronts.cu
answers fails "kWarpsSequentialAt64: too high" lab lab CH=05 EX=4
expect_output "open      $work/ex4_wavefronts.cu:$(sed -n '/kWarpsSequentialAt64 =/=' $work/ex4_wavefronts.cu)"
expect_no_output "kInterleavedAt1: too"

test_case "what was changed outside of the TODO of a prediction is opened there, and what stood there is shown"
sed 's/__syncthreads();/;/' $exercises/ex4_wavefronts.cu >$work/ex4_wavefronts.cu
answers fails "open      $work/ex4_wavefronts.cu:$(sed -n '/__syncthreads/=' $exercises/ex4_wavefronts.cu)" lab lab CH=05 EX=4
expect_output "was there __syncthreads();"
rm $work/ex4_wavefronts.cu

test_case "a wrong element is reported with index, expected and actual value, size, block and what such a pattern means"
mutant ex2_block_tree slots_not_filled >$work/ex2_block_tree.cu
answers fails "wrong     sums[0]: expected " lab lab CH=5 EX=2
expect_output "n = 1, block 32, random values"
expect_output " tries"
expect_output "likely    only sizes that are no multiple of the block fail: the tail"

test_case "a missing barrier is a race, named with both lines"
mutant ex2_block_tree no_barrier_in_the_loop >$work/ex2_block_tree.cu
answers fails "error: race: a" lab lab CH=5 EX=2
expect_output "nothing orders the two"
expect_output "help: one line reads and writes: read into a variable, then __syncthreads(), then write"

# One of the labs that count nothing: where X-ray counts, these indices are not compared.
test_case "an index outside of a local array is rejected, although the result is right"
mkdir -p work/02_single_thread_sum
sed 's|long long result = 0;|long long result = 0, parts[2];|; s|result += static_cast|parts[i % 3] = &|' \
  chapters/02_single_thread_sum/exercises/solutions/ex2_wide_sum.cu >work/02_single_thread_sum/ex2_wide_sum.cu
lab lab CH=02 EX=2
rm -r work/02_single_thread_sum
expect_failure
expect_output "index 2"

test_case "with nvcc as well a warning is no error"
run "$python" -c '
from common.labs.build import lenient
print(*lenient("nvcc -O3 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror".split(), "gpu"))'
expect_output "nvcc -O3 -Xcompiler -Wall,-Wextra,-Wno-sign-compare"
expect_no_output "-Werror "
expect_no_output "-Werror,"

test_case "g++ takes what every check includes as it was compiled once"
run "$python" -c 'import os, subprocess, sys
from common.labs import build, catalogue
lab = catalogue.all_labs()[0]
builder = build.Builder({"CXX": os.environ.get("CXX", "")})
builder.prepare("cpu-xray")
os.makedirs("build/labs/tried", exist_ok=True)
*before, compiled, _ = builder.commands(lab, lab.starter, "cpu-xray", "build/labs/tried")
for command in before:
    subprocess.run(command, check=True)
if build.is_clang(compiled):
    sys.exit("clang++ takes nothing")
subprocess.run([*compiled, "-H", "-Winvalid-pch"], check=True)'
if [ "$output" = "clang++ takes nothing" ]; then
  skip "the compiler is clang++"
else
  expect_output "! ./build/labs/cpu-xray/first.h.gch"
fi

test_case "what does not compile is shown at the learner's own line"
sed 's/tree_of_block(/tree_of_block(unknown_type u, /' $exercises/solutions/ex2_block_tree.cu >$work/ex2_block_tree.cu
answers fails "it does not compile" lab lab CH=05 EX=2
expect_output "open      $work/ex2_block_tree.cu:12"

test_case "a function that was renamed is called so, and an empty file as well"
sed 's/tree_of_block(/my_tree(/' $exercises/solutions/ex2_block_tree.cu >$work/ex2_block_tree.cu
answers fails "likely    the check uses a name that your file no longer has" lab lab CH=05 EX=2
expect_output "diff $exercises/ex2_block_tree.cu $work/ex2_block_tree.cu"
: >$work/ex2_block_tree.cu
answers fails "likely    the check uses a name that your file no longer has" lab lab CH=05 EX=2

test_case "a starter that was edited in place is noticed, and the copy to edit is named"
lab lab CH=05 EX=3
expect_no_output "was edited"
cp $exercises/ex3_block_maximum.cu "$scratch/starter.cu"
cp $exercises/solutions/ex3_block_maximum.cu $exercises/
answers fails "$exercises/ex3_block_maximum.cu was edited" lab lab CH=05 EX=3
expect_output "Your copy is $work/ex3_block_maximum.cu"
cp "$scratch/starter.cu" $exercises/ex3_block_maximum.cu
rm $work/ex3_block_maximum.cu

test_case "make's own last line is explained"
answers fails "Error 1, means no more than: not yet" lab lab CH=05 EX=2

test_case "behind the last exercise come those that were left out; only after all of them it is over"
run "$python" -c 'import sys
from common.labs import catalogue, learner
labs = catalogue.all_labs()
learner.Learner.status = lambda self, lab, tell=False: "passed" if lab.label not in sys.argv[1:] else "failed"
following = learner.Learner(labs, {}, None).following(labs[-1])
print(following.command if following else "none")' 05_shared_tree_reduction/ex2_block_tree
expect_output "CH=05 EX=2"

test_case "of two TODOs the one that was not touched is named"
sed 's/(void)x, (void)n, .*/for (unsigned k = 0; k < n; ++k) maxima[0] = largest[0] = x[k];/' \
  $exercises/ex3_block_maximum.cu >$work/ex3_block_maximum.cu
answers fails "the TODO in line $(sed -n '/TODO: how many bytes/=' $work/ex3_block_maximum.cu) is as it was" lab lab CH=05 EX=3
rm $work/ex3_block_maximum.cu

test_case "hints come one by one, and stay at the last"
for level in 1 2 3 3; do
  answers 0 "hint $level of 3" lab hint CH=05 EX=2
done

test_case "labs.sh takes a chapter by its number, too"
answers 0 "hint 3 of 3" run common/labs/labs.sh hint CH=5 EX=2

test_case "the solution is shown after a pass, or with FORCE=1"
lab solution CH=05 EX=2
expect_failure
expect_no_output "i < n ?"
answers 0 "i < n ?" lab solution CH=05 EX=2 FORCE=1
answers 0 "partial[kThreads]" lab solution CH=05 EX=1

test_case "make progress counts from the checks"
answers 0 "1  passed       1/1 points" lab progress CH=05
expect_output "2  failed       0/2 points"
expect_output "3  not started  0/3 points"
expect_output "next: make lab CH=05 EX=2"

test_case "where nothing can be written, one line says so"
mv work work.kept
: >work
for verb in lab hint reset; do
  lab $verb CH=05 EX=1
  expect_failure
  expect "one line, besides make's own" [ "$(printf '%s\n' "$err" | grep -vc '^make')" -le 1 ]
  expect_output "make $verb: work/"
  expect "no traceback" has_not "$output" Traceback
done
rm work
mv work.kept work

test_case "make reset gives a fresh copy and loses nothing"
lab reset CH=05 EX=1
expect_status 0
expect "the starter" cmp -s "$work/ex1_block_sum.cu" "$exercises/ex1_block_sum.cu"
expect "the old one" cmp -s "$work/ex1_block_sum.cu.saved-1" "$exercises/solutions/ex1_block_sum.cu"
echo '// again' >>$work/ex1_block_sum.cu
lab reset CH=05
expect_status 0
expect "the second old one" grep -q again "$work/ex1_block_sum.cu.saved-2"
expect "the first old one" [ -e "$work/ex1_block_sum.cu.saved-1" ]
expect "the other exercise as well" cmp -s "$work/ex2_block_tree.cu" "$exercises/ex2_block_tree.cu"

test_case "an exercise that is not there: one line with those that are, status 2, nothing made"
rm -rf work
for arguments in "CH=05_shared_tree_reduction EX=9" "CH=05_shared_tree_reduction EX=x" EX=1; do
  for verb in lab hint solution; do
    # shellcheck disable=SC2086  # two arguments
    run common/labs/labs.sh $verb $arguments
    expect_status 2
    expect_one_line
  done
done
run common/labs/labs.sh lab CH=05_shared_tree_reduction EX=9
expect_output "1 (ex1_block_sum)"
run common/labs/labs.sh reset
expect_status 2
expect_one_line
expect "no work/" [ ! -e work ]

# What every check is linked with takes seconds to compile, and what it includes as well: kept for next time, the
# latter with the key that says for which sources.
mkdir -p "$home/build/labs"
for part in {channel,report}.{d,o}; do cp -p "build/labs/$part" "$home/build/labs/.$part.$$" && mv "$home/build/labs/.$part.$$" "$home/build/labs/$part"; done
for folder in build/labs/cpu build/labs/cpu-xray; do
  [ -f $folder/first.h.key ] || continue
  mkdir -p "$home/$folder"
  rm -f "$home/$folder/first.h.key" # without it nobody takes what is half copied
  cp -p $folder/first.h $folder/first.h.gch "$home/$folder/" 2>/dev/null
  cp -p $folder/first.h.key "$home/$folder/.key.$$" && mv "$home/$folder/.key.$$" "$home/$folder/first.h.key"
done
