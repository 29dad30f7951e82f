#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What surrounds a lab: races in its check, X-ray, a debugger, printf, in a copy of the tree. What every
# learner types is in tests/cli/labs.test.sh.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "the labs' verbs"

tree=$scratch/'a "tree"'
own_tree "$tree" labs/{channel,report}.{o,d} labs/cpu labs/cpu-xray
cd "$tree" || exit 1

mkdir -p $work
cp $exercises/solutions/ex1_block_sum.cu $work/
lab lab CH=05 EX=1

test_case "a race that every order of threads survives is rejected"
mutant ex1_block_sum all_threads_add_to_the_result >$work/ex1_block_sum.kept.cu
mv $work/ex1_block_sum.cu $work/ex1_block_sum.mine.cu
mv $work/ex1_block_sum.kept.cu $work/ex1_block_sum.cu
lab lab CH=5 EX=1
mv $work/ex1_block_sum.mine.cu $work/ex1_block_sum.cu
expect_failure
expect_output "not yet   every block leaves the sum of its own elements"
expect_output "error: race: a"

test_case "what is wrong on a device of one multiprocessor only, without a race, is not laid to an order of threads"
mkdir -p work/04_multi_block
dot=ex3_dot_in_one_wave
sed 's/device_attribute(cudaDevAttrMultiProcessorCount, 0)/std::max(2, &)/' \
  chapters/04_multi_block/exercises/solutions/$dot.cu >work/04_multi_block/$dot.cu
answers fails "on a device of 1 SM: expected" lab lab CH=4 EX=3
expect_output "likely    right in 5 orders of threads, and no race was found"
expect_no_output "other threads first"

test_case "what a check draws is the same for all orders of threads, so a wrong number is not laid to one"
"$python" common tools.checks.edits chapters/04_multi_block/exercises/solutions.mutants $dot/sms_typed_in \
  >work/04_multi_block/$dot.cu
lab lab CH=4 EX=3
rm -r work/04_multi_block
expect_failure
expect_output "on a device of more SMs: expected"
expect_no_output "other threads first"

test_case "int indices as in every CUDA book compile without a word; other warnings are shown, and do not decide"
cp $work/ex1_block_sum.cu "$scratch/mine.cu"
sed 's/const unsigned t = threadIdx.x;/const int t = threadIdx.x;/
  s/const std::size_t i = .*/const int i = blockIdx.x * blockDim.x + threadIdx.x;/' \
  $exercises/solutions/ex1_block_sum.cu >$work/ex1_block_sum.cu
expect "an int compared with a size" grep -q 'const int i = ' $work/ex1_block_sum.cu
lab lab CH=05 EX=1
expect_status 0
expect_no_output "warns"
sed 's/sums\[blockIdx.x\] = sum;/int spare = sum; sums[blockIdx.x] = sum;/' $exercises/solutions/ex1_block_sum.cu >$work/ex1_block_sum.cu
answers 0 "the compiler warns:" lab lab CH=05 EX=1
expect_output "$work/ex1_block_sum.cu:$(sed -n '/int spare/=' $work/ex1_block_sum.cu)"
expect_output "unused variable"
cp "$scratch/mine.cu" $work/ex1_block_sum.cu

test_case "make xray CH= EX= shows the learner's own lines with their counts"
answers 0 "sum_of_block<<<" lab xray CH=05 EX=1
expect_output "| $work/ex1_block_sum.cu"
expect "counts at the line of the file" grep -q "global store .*|   $(sed -n '/sums.blockIdx.x. = /=' $work/ex1_block_sum.cu)  " <<<"$out"
expect_no_output "passed;"
lab xray CH=05 EX=1 CSV=-
expect "counts alone" has "$(printf '%s\n' "$out" | sed -n 2p)" '"sum_of_block"'

test_case "what a check counts itself is in the listing as well; a starter is copied, and that is said"
lab xray CH=00 EX=1
expect_output "new: work/00_first_kernel/ex1_scale_and_add.cu"
cp chapters/00_first_kernel/exercises/solutions/ex1_scale_and_add.cu work/00_first_kernel/
answers 0 "global load" lab xray CH=00 EX=1
rm -r work/00_first_kernel

test_case "X-ray does not tell a prediction's answer before it is passed"
answers fails "first predict: make lab CH=05 EX=4" lab xray CH=05 EX=4
rm $work/ex4_wavefronts.cu

test_case "a printf in a kernel is shown: of the try that failed, or of the first that printed when all is right"
cp $work/ex1_block_sum.cu "$scratch/mine.cu"
sed 's/= sum;/= sum + (n == 33); printf("%llu elements, block %u of %u\\n", (unsigned long long)n, blockIdx.x, gridDim.x);/' \
  $exercises/solutions/ex1_block_sum.cu >$work/ex1_block_sum.cu
answers fails "at        n = 33" lab lab CH=05 EX=1
expect_output "your program printed, in this try:"
expect_output "| 33 elements, block 0 of 1"
expect_no_output "| 32 elements"
sed -i.bak 's/ + (n == 33)//' $work/ex1_block_sum.cu && rm $work/ex1_block_sum.cu.bak
answers 0 "in the first try that prints:" lab lab CH=05 EX=1
expect_output "| 1 elements, block 0 of 1"
expect_no_output "All tests passed"

test_case "what Catch2 3 says before its first test case is not taken for the program's"
run "$python" -c 'from common.labs import outcome
print("[" + outcome.printed("Randomness seeded to: 1234\n\036right\nRandomness seeded to: mine\n\036right\n") + "]")
print("[" + outcome.printed("Randomness seeded to: 1234\nmine\n\036right\n") + "]")'
expect "what is left" [ "$out" = "[Randomness seeded to: mine]
[mine]" ]

test_case "progress says what it checks; a second make waits for the first one's check"
echo >>$work/ex1_block_sum.cu
make -s --no-print-directory progress CH=05 BACKEND=cpu >"$scratch/first" 2>&1 &
first=$!
lab lab CH=05 EX=1
expect_status 0
wait $first
expect "that the first one's file passes" grep -q "1  passed" "$scratch/first"
echo >>$work/ex1_block_sum.cu
answers 0 "  checking  $work/ex1_block_sum.cu" lab progress CH=05

test_case "GDB=1 builds the check with variables and says what to type"
answers 0 "gdb build/labs/05_shared_tree_reduction/ex1_block_sum/gdb/check" lab lab CH=05 EX=1 GDB=1
expect_output "break $work/ex1_block_sum.cu:"
expect "the program" [ -x build/labs/05_shared_tree_reduction/ex1_block_sum/gdb/check ]
cp "$scratch/mine.cu" $work/ex1_block_sum.cu

test_case "a result that depends on the order of threads asks for a barrier only where one is missing"
mutant ex2_block_tree no_barrier_in_the_loop >"$scratch/no_barrier.cu"
for text in "$scratch/no_barrier.cu" $exercises/solutions/ex2_block_tree.cu; do
  run "$python" -c 'import sys
from common.labs import catalogue, outcome, report
lab = catalogue.labs_of("05_shared_tree_reduction")[1]
lab.work = sys.argv[1]
report.details(lab, outcome.Outcome("wrong", depends_on_order=True))' "$text"
  expect_output "Who else writes there?"
  if [ "$text" = "$scratch/no_barrier.cu" ]; then
    expect_output "Which barrier is missing?"
  else
    expect_output "What orders the two?"
    expect_no_output "barrier"
  fi
done

test_case "a compiler of two words, as \"ccache g++\", compiles labs"
cp chapters/00_first_kernel/exercises/solutions/ex1_scale_and_add.cu "$scratch/solution.cu"
mkdir -p work/00_first_kernel
mv "$scratch/solution.cu" work/00_first_kernel/ex1_scale_and_add.cu
lab lab CH=00 EX=1 CXX="env ${CXX:-g++}"
expect_status 0
