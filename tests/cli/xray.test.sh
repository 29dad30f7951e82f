#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make xray as a user types it: what it says, what it draws, and what it refuses.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
unset CSV BLOCKS BLOCK EVENTS HTML ONLY
unset "${!XRAY_@}" "${!CUDA_CPU_@}"

dir=build/cpu-xray
coalesced=03_coalesced_threads
tree_sum=05_shared_tree_reduction
grid=8 # blocks of its launches for the whole device

make -s $dir/$coalesced $dir/$tree_sum >"$scratch/build" 2>&1 || cat "$scratch/build"

# X-ray of one chapter, small.
xray() { common/tools/run/xray.sh $dir "$@"; }
with() { env "$@"; }
# The program itself, with its counts in a file.
counts() {
  local file=$1 program=$2
  shift 2
  env "$@" XRAY_CSV="$file" "$dir/$program" --n 20000 --samples 1 >/dev/null 2>"$scratch/stderr"
}
# field KERNEL OPERATION COLUMN: of the CSV, the sum over rows. Commas stand in quotes only before them.
field() {
  awk -F, -v kernel="\"$1\"" -v operation="$2" -v column="$3" '
    NR == 1 { for (i = 1; i <= NF; i++) behind[$i] = NF - i; next }
    $1 == kernel && $(NF - behind["operation"]) == operation { sum += $(NF - behind[column]) }
    END { print sum + 0 }' "$scratch/counts.csv"
}

# ---- events -------------------------------------------------------------------------------------

# The sums of events over line, space and operation against the CSV of the same run.
cat >"$scratch/sums.py" <<'END'
import csv, json, os, sys
kernels = json.load(open(sys.argv[1]))["kernels"]
whole = {k["kernel"] for k in kernels if k["steps"] == k["steps_kept"]}
events, counts, barriers = {}, {}, {}
for k in kernels:
    if len(json.dumps(k, separators=(",", ":"))) > 50 * 1024: sys.exit(k["kernel"] + " takes more than 50 KB")
    if k["kernel"] not in whole: continue
    barriers[k["kernel"]] = sum(e[4] == "barrier" for e in k["events"])
    for _, _, line, space, op, _, offsets, cost, *_ in k["events"]:
        if op == "barrier": continue
        if len(offsets) != 32: sys.exit("lanes are missing")
        file, line = (k["files"][line[0]], line[1]) if isinstance(line, list) else (k["files"][0], line)
        key = k["kernel"], file, line, space, {"copy": "load", "swap": "atomic", "increment": "atomic"}.get(op, op)
        old = events.get(key, (0, 0, 0))
        events[key] = old[0] + 1, old[1] + cost, old[2] + sum(o is not None for o in offsets)
first = {}
for row in csv.DictReader(open(sys.argv[2])):
    kernel, launch = row["kernel"], [row[c] for c in ("arguments", "launch", "grid", "block")]
    if kernel not in whole or first.setdefault(kernel, launch) != launch: continue
    if int(row["barriers_per_thread"]) != barriers[kernel]: sys.exit(f"barriers of {kernel}: {barriers[kernel]}")
    key = kernel, row["file"], int(row["line"]), row["space"], row["operation"]
    old = counts.get(key, (0, 0, 0))
    cost = int(row["sectors"]) + int(row["wavefronts"]) + int(row["words"])
    counts[key] = old[0] + int(row["requests"]), old[1] + cost, old[2] + int(row["lanes"])
for key in sorted(set(events) | set(counts)):
    if events.get(key) != counts.get(key): sys.exit(f"{key}: events {events.get(key)}, counts {counts.get(key)}")
if not events: sys.exit("no kernel is whole")
print(len(whole), "kernels,", len(events), "rows")
END

test_case "what the front page shows of X-ray is what it prints"
run xray $coalesced --only sum_chunked
quoted=$(sed -n '/^\* global/,/worst/p' chapters/$coalesced/results/xray_chunked.txt)
expect "two lines" [ "$(lines_in "$quoted")" -eq 2 ]
expect "the same lines" [ "$(sed -n '/^\* global/,/worst/p' <<<"$output")" = "$quoted" ]

test_case "of a lab's check the counts are shown and nothing else: it has no options, so none are looked up"
# shellcheck disable=SC2016  # expanded when the stand-in runs
fake_command check 'printf "kernel\na\n" >"$XRAY_CSV"; echo "counts of a" >"$XRAY_LISTING"'
answers 0 "counts of a" run common/tools/run/xray.sh --check "$fake/check" work/a.cu 05_shared_tree_reduction.ex3_block_maximum
expect "nothing on stderr" [ -z "$err" ]

test_case "EVENTS= writes what a block does, the same each time, and its sums are the counts"
for chapter in $coalesced $tree_sum; do
  run with EVENTS="$scratch/first.json" common/tools/run/xray.sh $dir "$chapter"
  expect_status 0
  run with EVENTS="$scratch/second.json" common/tools/run/xray.sh $dir "$chapter"
  expect "the same bytes for $chapter" cmp -s "$scratch/first.json" "$scratch/second.json"
  answers 0 "kernels, " run python3 "$scratch/sums.py" "$scratch/second.json" "build/xray/$chapter.csv"
done

test_case "EVENTS= says how many steps it kept, and what it cannot do"
answers 0 "of 530 steps are kept" run with EVENTS="$scratch/first.json" common/tools/run/xray.sh $dir $tree_sum --only shared_one_thread
answers 2 "BLOCK=99999999: no kernel has such a block" \
  run with EVENTS="$scratch/none.json" BLOCK=99999999 common/tools/run/xray.sh $dir $tree_sum
answers 2 "BLOCK=-1: expected a block's number, from 0" \
  run with EVENTS="$scratch/none.json" BLOCK=-1 common/tools/run/xray.sh $dir $tree_sum
answers 2 "BLOCK=1 goes with EVENTS= or HTML=" run with BLOCK=1 common/tools/run/xray.sh $dir $tree_sum

test_case "HTML= writes the explorer with a block's steps in it, and says which it left out"
answers 0 "-> $scratch/page.html" run make --no-print-directory xray CH=03 HTML="$scratch/page.html" BLOCK=1 ONLY=sum_chunked,grid_strided
expect "one page" [ "$(grep -c '<title>' "$scratch/page.html")" -eq 1 ]
expect "its end" [ "$(tail -1 "$scratch/page.html")" = '</html>' ]
expect "the steps of block 1" grep -q '"block_number":1,' "$scratch/page.html"
expect "the source" grep -q 'sum += square(x\[i\]);' "$scratch/page.html"
for mark in @STEPS@ @READER@; do expect "no mark left" has_not "$(<"$scratch/page.html")" "$mark"; done
answers 0 "sum_single_thread: the first 2000 of 131077 steps are kept" \
  run with HTML="$scratch/page.html" common/tools/run/xray.sh $dir $coalesced --only single_thread

test_case "HTML= refuses what does not go with it, and writes a whole page or none"
for other in EVENTS CSV; do
  answers_in_a_line 2 "HTML=" run with HTML="$scratch/none.html" $other=7 common/tools/run/xray.sh $dir $tree_sum
done
answers 2 "one chapter" run with HTML="$scratch/none.html" common/tools/run/xray.sh $dir "$coalesced $tree_sum"
answers fails "HTML= is for programs, not for labs" run make --no-print-directory xray CH=05 EX=1 HTML="$scratch/none.html"
expect "no page" [ ! -e "$scratch/none.html" ]
mkdir "$scratch/taken"
for bad in "$scratch/taken" "$scratch/no/such.html"; do
  answers_in_a_line 2 "HTML=$bad: cannot be written" run with HTML="$bad" common/tools/run/xray.sh $dir $tree_sum --only shared_one_thread
done
expect "nothing left behind" [ -z "$(ls -A "$scratch/taken")$(find "$scratch" -maxdepth 1 -name '*partial*')" ]

# ---- what it says --------------------------------------------------------------------------------

test_case "make xray lists a kernel's source with the counts beside the lines"
answers 0 "no cache is modelled" run make --no-print-directory xray CH=03 ONLY=sum_chunked,sum_strided
expect_output "sum_chunked<<<"
expect_output "32/4 sectors"
expect_output "4/4 sectors"
expect_output "32 sectors per request where 4 would do"
expect_output "No request costs more than it must."
expect_no_output "sum_single_thread"

test_case "X-ray's colours are for terminals"
expect_no_output "$(printf '\033')"

test_case "CSV=- prints the counts and nothing else"
run with CSV=- common/tools/run/xray.sh $dir $coalesced --only sum_strided
expect_status 0
expect "the columns in the first line" has "$(printf '%s\n' "$out" | head -1)" "kernel,arguments,"
expect "rows of counts in the others" [ -z "$(printf '%s\n' "$out" | sed 1d | grep -v '^"')" ]

test_case "a grid is sampled by as many blocks as are asked for, and the listing says so"
answers 0 "3 of $grid blocks counted" run with BLOCKS=3 common/tools/run/xray.sh $dir $coalesced --only grid_strided --grid $grid
expect_output "BLOCKS=all"
run with BLOCKS=all common/tools/run/xray.sh $dir $coalesced --only grid_strided --grid $grid
expect_output "$grid of $grid blocks counted"
run xray $coalesced --only grid_strided --grid 100
expect_output "64 of 100 blocks counted"
run with BLOCKS=all CSV="$scratch/counts.csv" common/tools/run/xray.sh $dir $coalesced --only grid_strided --grid 100
all=$(field sum_strided store requests)
for blocks in 1 2 7 99 100 101; do
  run with BLOCKS=$blocks CSV="$scratch/counts.csv" common/tools/run/xray.sh $dir $coalesced \
    --only grid_strided --grid 100
  [ "$blocks" -gt 100 ] && blocks=100
  # Each block stores as much as any other.
  expect "the stores of $blocks blocks" [ "$(field sum_strided store requests)" -eq $((all * blocks / 100)) ]
done

# ---- the same whatever the order -----------------------------------------------------------------

test_case "the counts are the same under every schedule and for any number of workers"
counts "$scratch/first.csv" $tree_sum CUDA_CPU_SCHEDULE=forward CUDA_CPU_WORKERS=1
expect "counts" [ -s "$scratch/first.csv" ]
# Each order, each number of workers, and each number in two orders at least.
for pair in 'forward 1' 'forward 5' 'reverse 1' 'reverse 2' 'random:1 2' 'random:2 5'; do
  order=${pair% *} workers=${pair#* }
  last_command="$tree_sum under $order with $workers workers"
  counts "$scratch/counts.csv" $tree_sum CUDA_CPU_SCHEDULE="$order" CUDA_CPU_WORKERS="$workers"
  expect "the counts of one worker, forward" cmp -s "$scratch/first.csv" "$scratch/counts.csv"
done

# ---- what it refuses -----------------------------------------------------------------------------

test_case "a version that does not exist is one line with those that do"
answers_in_a_line 2 "no_such_version" run xray $coalesced --only no_such_version
expect_output "sum_strided"
answers 2 "no_such_version" run make --no-print-directory xray CH=03 ONLY=no_such_version

for bad in junk 0 -1 3x 99999999999999999999999 ' '; do
  test_case "BLOCKS='$bad' is refused before anything runs"
  answers_in_a_line 2 "BLOCKS=$bad: expected a number of blocks, or all" run with BLOCKS="$bad" common/tools/run/xray.sh $dir $coalesced
done

test_case "counts that cannot be written are one line"
answers_in_a_line 2 "$scratch/no/such/folder.csv: cannot be written" \
  run with CSV="$scratch/no/such/folder.csv" common/tools/run/xray.sh $dir $coalesced --only sum_chunked
mkdir "$scratch/folder"
run with CSV="$scratch/folder" common/tools/run/xray.sh $dir $coalesced --only sum_chunked
expect_status 2
expect_one_line
expect "nothing left behind" [ -z "$(find "$scratch/folder" "$scratch" -maxdepth 1 -name '*partial*')$(ls -A "$scratch/folder")" ]

test_case "counts of all chapters at once are refused"
answers_in_a_line 2 "one chapter" run with CSV="$scratch/all.csv" common/tools/run/xray.sh $dir "$coalesced $tree_sum"

# ---- the program's own results -------------------------------------------------------------------

# A program of its own, for a chapter takes most of a minute to compile.
test_case "a wrong result fails under X-ray as it does without, a right one passes"
tree=$scratch/tree
own_tree "$tree"
small=$tree/chapters/99_squares
mkdir "$small"
cat >"$small/squares.cu" <<'END'
// SPDX-License-Identifier: MIT
// Chapter 99: is every number squared?
#include <cuda_runtime.h>

#include <cstdio>

__global__ void square_each(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }

int main() {
  int x[64], *d_x = nullptr;
  for (int i = 0; i < 64; ++i) x[i] = i;
  cudaMalloc(&d_x, sizeof x);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  square_each<<<1, 64>>>(d_x);
  cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) {
    if (x[i] != i * i) return std::printf("square_each  WRONG  %d\n", i), 1;
  }
  std::printf("square_each  ok\n");
}
END
answers 0 "square_each<<<" run make -C "$tree" --no-print-directory xray CH=99
expect_output "check of its results passed"
expect_output "\`*\` marks the access of a launch that wastes most"
sed 's/ \*= x\[threadIdx.x\]/ *= 2/' "$small/squares.cu" >"$scratch/wrong.cu" && mv "$scratch/wrong.cu" "$small/squares.cu"
answers fails "square_each  WRONG" run make -C "$tree" --no-print-directory xray CH=99
expect_no_output "check of its results passed"

test_case "X-ray claims no check of results for a program that has none"
sed '/WRONG/d; /ok/d' "$small/squares.cu" >"$scratch/silent.cu" && mv "$scratch/silent.cu" "$small/squares.cu"
answers 0 "square_each<<<" run make -C "$tree" --no-print-directory xray CH=99
expect_no_output "check of its results passed"
expect_output "What the program printed is in build/xray/99_squares.out"

test_case "where nvcc is installed its machine code decides how often memory is asked, else the source, and the listing says which"
cat >"$small/squares.cu" <<'END'
// SPDX-License-Identifier: MIT
// Chapter 99: what becomes of a float4 of which two parts are used?
#include <cuda_runtime.h>
#include <cstdio>

__global__ void corners(const float4* x, float* y) {
  const float4 v = x[threadIdx.x];
  y[threadIdx.x] = v.w - v.x;
  }

int main() {
  std::printf("%d launch\n", 1);
  float4* x = nullptr;
  float* y = nullptr;
  cudaMalloc(&x, 32 * sizeof(float4));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float4));
  corners<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x), cudaFree(y);
}
END
mkdir "$scratch/refusing"
printf '#!/bin/sh\necho "squares.cu(7): error: no" >&2\nexit 1\n' >"$scratch/refusing/nvcc"
chmod +x "$scratch/refusing/nvcc"
answers 0 "nvcc does not compile 99_squares, so the counts are the source's" \
  run with PATH="$scratch/refusing:$PATH" make -C "$tree" --no-print-directory xray CH=99
expect_output "  global load           1  32.0  16/16 sectors    100% |    7"
expect_no_output "std::printf" # the kernel ends where its braces close, wherever they stand
expect_output "The counts are the source's: "
expect_no_output "  ~ "
expect "what nvcc said" grep -q 'error: no' "$tree/build/xray/99_squares.nvcc"
if nvcc --version >/dev/null 2>&1; then
  answers 0 "nvcc  99_squares" run make -C "$tree" --no-print-directory xray CH=99
  expect_output "The counts are the machine code's: "
  expect_output "  global load           2  32.0  16/16 sectors "
  expect_output "  ~ nvcc loads 2 parts of it by themselves: 2 requests for 1"
  run make -C "$tree" --no-print-directory xray CH=99
  expect_no_output "nvcc  99_squares"
  expect_output "  ~ nvcc loads 2 parts of it by themselves: 2 requests for 1"
fi

test_case "what X-ray does when a block has ended is not taken for a kernel that hangs"
cat >"$small/squares.cu" <<'END'
// SPDX-License-Identifier: MIT
// Chapter 99: threads that end one after the other, and are put together at once.
#include <cuda_runtime.h>

__global__ void walk(const int* x, int* y) {
  int sum = 0;
  for (int i = 0; i < 6000; ++i) sum += x[(7 * i + threadIdx.x) % 4096];
  y[threadIdx.x] = sum;
}

int main() {
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 4096 * sizeof(int));
  cudaMalloc(&y, 1024 * sizeof(int));
  cudaMemset(x, 0, 4096 * sizeof(int));
  walk<<<1, 1024>>>(x, y);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x), cudaFree(y);
  return error;
}
END
answers 0 "192000  32.0" run env CUDA_CPU_TIMEOUT=0.5 make -C "$tree" --no-print-directory xray CH=99
