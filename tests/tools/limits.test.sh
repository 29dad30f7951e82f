#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What bounds the versions of chapter 14 follows from sources, machine code and counters, and says so where it does not.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

if ! python=$(common/tools/setup/python.sh); then
  test_case "limits are derived"
  skip "python3 is not here"
  exit
fi
export PYTHONDONTWRITEBYTECODE=1

here=$PWD
chapter=chapters/14_matmul_at_the_limit
stored=$chapter/results
# What a case changes is put back by the next one.
fresh() {
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/chapters/01_device_query"
  cp -R "$here/$chapter" "$scratch/tree/chapters/"
  cp -R "$here/chapters/01_device_query/results" "$scratch/tree/chapters/01_device_query/"
  cd "$scratch/tree" || exit 1
}
limits() { run "$python" "$here/common/tools/measure/product_limits.py" "$@"; }
# edit FILE SCRIPT: sed -E, which must change something; what was measured is not named, it changes
edit() {
  sed -E "$2" "$1" >edited
  expect "$2 changes $1" [ -n "$(diff edited "$1")" ]
  mv edited "$1"
}
# complains TEXT: the check fails, in one line
complains() {
  limits --check
  expect_status 1
  expect_one_error_line
  expect_output "$1"
}
fresh

test_case "the stored limits follow from what they are derived from"
limits --check
expect_status 0
expect "nothing said" [ -z "$output" ]

test_case "deriving them again gives the same bytes"
rm $stored/h200_limits.csv $stored/h200_limits_counters.csv
limits
expect_status 0
expect "the same limits" cmp -s "$here/$stored/h200_limits.csv" $stored/h200_limits.csv
expect "the same counters" cmp -s "$here/$stored/h200_limits_counters.csv" $stored/h200_limits_counters.csv

test_case "a measurement that changes a limit is found as drift"
edit $stored/h200.csv '/^default,.*,serpentine,/s/,[0-9.]+,([^,]*)$/,1755.00,\1/'  # the clock
complains "$stored/h200_limits.csv: drifted"
fresh

test_case "a time that is shorter than its bound is found"
edit $stored/h200.csv 's/,large_tiles,[0-9.]+,/,large_tiles,1.5,/'
limits
expect_status 1
expect_output "large_tiles: its 1.5000 ms are less than the bound of 2."
expect_output " ms by issue"
fresh

test_case "a count that is far off its counter is found, unless a reason says why"
edit $stored/h200_profile.csv '/^serpentine,--m 2048.*inst_executed/s/,[0-9]+,inst,/,299999999,inst,/'
limits
expect_status 1
expect_output "serpentine, smsp__inst_executed.sum at 2048 x 2048 x 2048: "
expect_output " derived, 299999999 counted"
edit $chapter/settings '/^version,metric,why$/a\
serpentine,smsp__inst_executed.sum,made up'
limits
expect_status 0
expect "the reason is stored" grep -q "^serpentine,2048 x 2048 x 2048,smsp__inst_executed.sum,.*,made up," $stored/h200_limits_counters.csv
fresh

test_case "a store that X-ray sees to take more wavefronts than derived is found"
edit $stored/xray.csv '/^versions,"multiply_two_stages.*,shared,store,"dynamic",16,/s/,65536,0,0,512,/,65536,0,0,576,/'
limits
expect_status 1
expect_one_error_line
expect_output "two_stages, X-ray: wavefronts of shared stores at 128 x 256 x 64: 1024 derived, 1088 counted"
fresh

test_case "a load more than the source asks for is found in the machine code"
edit $stored/sm_90_loops.csv 's/^("multiply_two_stages.*",[0-9]+,1024),64,/\1,65,/'
complains "two_stages: 64 shared_loads in a step by the source, 65 in the machine code"
fresh

test_case "a tile of another shape was not compiled yet"
edit $chapter/tile.cuh '/^using Flat = /s/128, 128, 16, 16/128, 128, 32, 16/'
complains "$stored/sm_90_loops.csv: 0 rows of multiply_in_turn<Tile<128u, 128u, 32u, 16u"
fresh

test_case "a version that is measured and not found in the program is named"
edit $chapter/matmul_at_the_limit.cu 's/"warp_tiles", /"warped_tiles", /'
complains "expected one"
fresh

test_case "an unknown option is refused, with what there is"
limits --chek
expect_status 2
expect_output "[--check]"

# ---- the machine code ------------------------------------------------------------------------------

machine_code() { run "$python" "$here/common/tools/measure/machine_code.py" "$@"; }
# without_date FILE: the last column says when it was made, and the compiler orders kernels as it likes
without_date() { sed 's/,[^,]*$//' "$1" | sort; }

if ! command -v nvcc >/dev/null 2>&1; then
  test_case "the machine code of loops"
  skip "nvcc is not here"
  exit
fi

test_case "a loop's instructions are counted on the way that its warps go"
mkdir -p chapters/98_loops/results
cat >chapters/98_loops/loops.cu <<'END'
__global__ void guarded(const float* x, float* y, unsigned n, bool is_inside) {
  __shared__ float4 four[256];
  float sum[8] = {};
  for (unsigned step = 0; step < n; ++step) {
    const float* const from = x + step * 1024 + threadIdx.x * 4;
    if (is_inside) {
      four[threadIdx.x] = *reinterpret_cast<const float4*>(from);
    } else {
#pragma unroll 1
      for (unsigned i = 0; i < 3; ++i) four[threadIdx.x + i] = {from[i], 0, 0, 0};
    }
    __syncthreads();
    const float4 other = four[255 - threadIdx.x];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) sum[i] = fmaf(other.x, sum[i], other.y);
    __syncthreads();
  }
  y[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}
END
machine_code 98_loops
expect_status 0
expect_output "1 kernels -> chapters/98_loops/results/sm_90_loops.csv"
# multiply-adds, loads, stores, loads from global memory, copies, barriers
expect "8 multiply-adds, 1 load, 1 store, 1 load, 2 barriers" grep -q '^guarded,[0-9]*,8,1,1,1,0,2,' chapters/98_loops/results/sm_90_loops.csv

test_case "a program without such a loop is refused in one line"
echo '__global__ void none(int* x) { *x = 1; }' >chapters/98_loops/loops.cu
machine_code 98_loops
expect_status 1
expect_one_error_line
expect_output "98_loops: no kernel has a loop that multiplies and adds"

test_case "the stored counts and registers are what this compiler makes of chapter 14"
version=$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
if ! grep -q ",sm_90,$version," "$here/$stored/sm_90_loops.csv"; then
  skip "nvcc is $version, they were made by another"
  exit
fi
ln -s "$here/common" common
machine_code 14_matmul_at_the_limit
expect_status 0
run "$python" "$here/common/tools/measure/ptxas.py" 14_matmul_at_the_limit
expect_status 0
for file in sm_90_loops.csv sm_90_ptxas.csv; do
  output=$(diff <(without_date "$here/$stored/$file") <(without_date $stored/$file))
  expect "the same $file" [ -z "$output" ]
done

test_case "the search over shapes compiles the chapter's own kernel"
settings=$chapter/settings
tile_search() { run "$python" "$here/common/tools/measure/tile_search.py" "$@"; }
# Only the first of the shapes.
first_shape=$(($(sed -n '/^\[tile_search\]/=' $settings) + 2))
edit $settings "$((first_shape + 1)),\$d"
tile_search --compile
expect_status 0
registers=$(sed -n 's/^"multiply_async<Tile<128u, 256u, 16u, 64u, 64u, 8u, 3u, 1u, true>, true, true>",\([0-9]*\),.*/\1/p' $stored/sm_90_ptxas.csv)
expect_output "128,256,16,64,64,8,3,1,$registers,0,74496,1"

test_case "a shape that needs too much shared memory is refused in one line"
edit $settings "$first_shape"'s/,3,1$/,10,1/'
tile_search --compile
expect_status 1
expect_one_error_line
expect_output "248320 bytes of shared memory, at most 232448 are allowed"
