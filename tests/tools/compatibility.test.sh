#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make compatibility: what it says of a program that works, one that is refused and one that differs, and when it fails.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

test_case "every program says what it shows, and the stored table has all of them"
stored=common/cpu/results/compatibility.csv
for file in tests/compatibility/*.cu; do
  name=$(basename "$file" .cu)
  expect "$name: FEATURE: group: text" grep -qE '^// FEATURE: [a-z][a-z -]*: .' "$file"
  expect "$name stands in $stored once" [ "$(grep -cE "^[^,]*,[^,]*,$name," "$stored")" -eq 1 ]
done
set -- tests/compatibility/*.cu
expect "no other program" [ "$(grep -c . "$stored")" -eq $(($# + 1)) ]

own_tree "$scratch/tree"
cd "$scratch/tree" || exit 1
mkdir programs
# program NAME: its text is on stdin
program() { { echo "// FEATURE: tests: $1, \"quoted\""; cat; } >"programs/$1.cu"; }
program right <<'END'
#include <cstdio>
__global__ void show(int* x) { *x = 1; }
int main() {
  int* x;
  cudaMallocManaged(&x, 4);
  show<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  std::puts(*x == 1 ? "ok" : "differs");
}
END
program wrong <<'END'
#include <cstdio>
int main() { std::puts("differs"); return 1; }
END
program unknown <<'END'
#include <no_such_header.h>
int main() {}
END
program silent <<'END'
int main() {}
END
program failing <<'END'
#include <cstdio>
int main() { std::fprintf(stderr, "x.cu:3: error: this is not there\n"); return 2; }
END
compatibility() { run env COMPATIBILITY_PROGRAMS=programs COMPATIBILITY_STORED=stored.csv make --no-print-directory BACKEND=cpu compatibility "$@"; }
# row NAME RESULT TEXT: as the table has it
row() { printf 'a machine,2026-01-31,%s,tests,%s,"%s","%s"\n' "$1" "$2" "$1" "$3"; }

test_case "each program is said to work, to differ or to be refused, with the line that says why"
compatibility OUT=first.csv
expect_status 0
expect_output "works    right"
expect_output "differs  wrong"
expect_output "differs  silent"
expect_output "refused  unknown"
expect_output "no_such_header.h"
expect_output "refused  failing              this is not there"
expect_output "1 of 5 work; 2 refused, 2 differ"
expect "a row for each, and the names of the columns" [ "$(grep -c . first.csv)" -eq 6 ]
expect "quotes are doubled" grep -q ',right,tests,works,"right, ""quoted""",""$' first.csv

test_case "it fails where a program that the stored table says works does not work"
{ head -n 1 first.csv; row right works ''; row wrong works ''; row unknown refused 'not there'; row silent works ''; } >stored.csv
compatibility
expect_status 2
expect_output "do not any more: silent wrong"

test_case "what never worked, is new or works now is no failure"
{ head -n 1 first.csv; row right refused 'not there'; row wrong differs ''; } >stored.csv
compatibility ONLY="right wrong unknown"
expect_status 0
expect_output "1 of 3 work"

test_case "with ONLY= the stored rows of other programs stay"
{ head -n 1 first.csv; row right refused 'not there'; row another works ''; } >kept.csv
compatibility ONLY=right OUT=kept.csv
expect_status 0
expect "two rows" [ "$(grep -c . kept.csv)" -eq 3 ]
expect "the old one" grep -q '^a machine,2026-01-31,another,tests,works' kept.csv
expect "the new one" grep -q ',right,tests,works' kept.csv

test_case "a name that is no program's is refused"
compatibility ONLY=nothing
expect_status 2
expect_output "no such program in programs"
