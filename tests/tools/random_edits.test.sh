#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random edits are made to device code alone, each of a kind that the tool names, and each gets the verdict that its
# tests give it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

if ! python=$(common/tools/setup/python.sh); then
  test_case "random edits of device code"
  skip "python3 is not here"
  exit
fi

here=$PWD
program=chapters/99_sums/sums.cu
mkdir -p "$scratch/tree/tests" "$scratch/tree/chapters/99_sums" "$scratch/bin"
cd "$scratch/tree" || exit 1
cp -R "$here/common" .
echo 'test:' >Makefile
cat >$program <<'END'
#define ZERO 0  // a < b
__device__ int counter = 0;
/* __device__ int no_code(int x) { return x + 1; } */
__device__ int hidden[2] = {0, 1};
__host__ int on_the_host(int n) { return n < 0 ? 1 : n + 1; }
const char* const kText = "__device__ int f(int x) { return x + 0; }";
template <int kZero = 0> __device__ int shared_part(int* x, int n) {
  const int limit = n + int{threadIdx.y} * 2;  // + 1
  if (n == 0) x[n] = limit;
  else if (n > 2) f<1>(x);
  __syncthreads();
  return limit;
}
__global__ void sums(int* x) { shared_part(x, 10); }
END
cp $program "$scratch/original.cu"
touch tests/99_sums.test.cu

edits() { run "$python" "$here/common/tools/checks/random_edits.py" "$@"; }
# listed KIND: the edits of one kind, as old => new
listed() {
  edits --list --count 99 --kinds "$1"
  expect_status 0
  found=$(printf '%s\n' "$out" | sed -n "s/.*: $1: //p" | sort)
}
is() { [ "$found" = "$(sort)" ]; }

test_case "comparisons, signs and constants of device code are edited, and nothing else"
listed comparison
expect "both comparisons" is <<'END'
if (n == 0) x[n] = limit; => if (n != 0) x[n] = limit;
else if (n > 2) f<1>(x); => else if (n >= 2) f<1>(x);
END
listed sign
expect "the one sign" is <<'END'
const int limit = n + int{threadIdx.y} * 2; // + 1 => const int limit = n - int{threadIdx.y} * 2; // + 1
END
listed constant
expect "both constants" is <<'END'
if (n == 0) x[n] = limit; => if (n == 1) x[n] = limit;
else if (n > 2) f<1>(x); => else if (n > 2) f<0>(x);
END

test_case "a statement goes without what controls it, and no declaration or jump does"
listed statement
expect "three statements" is <<'END'
if (n == 0) x[n] = limit; => if (n == 0) {}
else if (n > 2) f<1>(x); => else if (n > 2) {}
__global__ void sums(int* x) { shared_part(x, 10); } => __global__ void sums(int* x) { {} }
END
listed barrier
expect "the barrier" is <<'END'
__syncthreads(); => {}
END

test_case "an index becomes another one, or the next"
listed index
expect "three edits" [ "$(printf '%s\n' "$found" | grep -c 'limit = n + int{')" -eq 3 ]
for other in 'int{blockIdx.y}' 'int{threadIdx.x}' 'int{(threadIdx.y + 1)}'; do expect "$other" has "$found" "=> const int limit = n + $other"; done

test_case "an edit that the chapter's list of mutants has is not made again"
cat >tests/99_sums.mutants <<'END'
no_barrier: __syncthreads(); =>
wrong_way: n == 0 => n != 0
END
listed barrier
expect "no barrier left" [ -z "$found" ]
listed comparison
expect "one comparison left" [ "$(lines_in "$found")" -eq 1 ]
rm tests/99_sums.mutants

test_case "a seed gives the same edits each time, and another seed others"
edits --list --count 8 --seed 5
first=$out
expect "eight edits" [ "$(lines_in "$first")" -eq 8 ]
edits --list --count 8 --seed 5
expect "the same" [ "$out" = "$first" ]
edits --list --count 8 --seed 6
expect "others" [ "$out" != "$first" ]

test_case "a chapter or a kind that does not exist is refused"
edits --list 42
expect_status 2
expect_output "42: no chapter with tests"
edits --list --kinds sign,typo
expect_status 2
expect_output "comparison,sign,constant,barrier,statement,index"

# ---- verdicts ------------------------------------------------------------------------------------
# This make takes f<0> for an error of the compiler. Its test program sees where signs and the barrier are wrong, the
# first by a failing test, the other by a crash, and only in reverse; its program sees a comparison; its `make sanitize`
# sees nothing but a missing barrier.
cat >"$scratch/bin/make" <<'END'
#!/bin/sh
! grep -q 'f<0>' chapters/99_sums/sums.cu || exit 2
mkdir -p build/cpu/tests
case "$*" in
  *test-programs*) cat >build/cpu/tests/99_sums.test <<'TEST'
#!/bin/sh
source=chapters/99_sums/sums.cu
printf 'started\tsigns\n' >>"$TEST_RESULTS"
if grep -q 'n - int' $source; then printf 'failed\tsigns\n' >>"$TEST_RESULTS"; exit 1; fi
printf 'passed\tsigns\nstarted\tbarriers\n' >>"$TEST_RESULTS"
! [ "$CUDA_CPU_SCHEDULE" = reverse ] || [ -n "$NO_CRASH" ] || grep -q __syncthreads $source || kill -9 $$
TEST
    chmod +x build/cpu/tests/99_sums.test ;;
  *sanitize*) grep -q __syncthreads chapters/99_sums/sums.cu ;;
  *build*)
    printf '#!/bin/sh\n! grep -q "n != 0" chapters/99_sums/sums.cu\n' >build/cpu/99_sums
    chmod +x build/cpu/99_sums ;;
esac
END
chmod +x "$scratch/bin/make"
PATH=$scratch/bin:$PATH

test_case "what rejects an edit is named: a test, a crash and its order of threads, the program's own check"
edits --count 99 --jobs 3 --kinds sign,barrier,comparison
expect_status 1
expect_output '["signs", forward]'
expect_output '["barriers" crashes, reverse]'
expect_output "if (n != 0) x[n] = limit;  [the program's own check: without options]"
expect "the survivor's line" has "$out" "SURVIVES  $program:10: comparison: else if (n > 2)"
expect "the survivor as a diff" has "$out" "$(printf '%s: survives\n-  else if (n > 2) f<1>(x);\n+  else if (n >= 2) f<1>(x);' "$program:10")"
expect_output "4 edits (99 were asked for)"
expect_output "3 rejected, 1 survived; 0 more did not compile"

test_case "what does not compile counts as no edit, and another one takes its place"
edits --count 1 --jobs 2 --kinds constant
expect_status 1
expect_output "1 edits in"
expect_output "SURVIVES  $program:9: constant"

test_case "where tests see no missing barrier, --fences asks make sanitize"
NO_CRASH=1 edits --count 1 --kinds barrier
expect_status 1
expect_output "0 rejected, 1 survived"
NO_CRASH=1 edits --count 1 --kinds barrier --fences
expect_status 0
expect_output "{}  [make sanitize]"

test_case "the chapter is as it was, and nothing is left behind"
expect "the program" cmp -s $program "$scratch/original.cu"
expect "no trees" [ ! -e build/random_edits ]

test_case "where the chapter itself fails, no edit is tried"
sed -i.bak 's/n + int/n - int/' $program
edits --count 1
expect_status 2
expect_output '99_sums as it is: "signs", forward'
