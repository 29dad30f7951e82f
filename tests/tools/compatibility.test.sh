#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make compatibility: what it says of a program that works, one that is refused and one that differs, and when it fails.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

if ! python=$(common/tools/setup/python.sh); then
  test_case "make compatibility"
  skip "python3 is not here"
  exit
fi

test_case "every program says what it shows, and the stored table has all of them"
stored=common/cpu/results/compatibility.csv
for file in tests/compatibility/*.cu; do expect "$file: GROUP: text" grep -qE '^// GROUP: [a-z][a-z ]*$' "$file"; done
sed -n 's|^// FEATURE: \([a-z0-9_]*\): .*|\1|p' tests/compatibility/*.cu | sort >"$scratch/programs"
tail -n +2 "$stored" | cut -d, -f3 | sort >"$scratch/stored"
expect "a program for each main" [ "$(grep -c . "$scratch/programs")" -eq "$(cat tests/compatibility/*.cu | grep -c '^int main')" ]
output=$(diff "$scratch/programs" "$scratch/stored")
expect "the same programs, each once" [ -z "$output" ]

own_tree "$scratch/tree"
cd "$scratch/tree" || exit 1
test_case "make compatibility runs the programs that ONLY= names"
run make --no-print-directory BACKEND=cpu compatibility ONLY="recursion inline_ptx"
expect_status 0
expect_output "works    recursion"
expect_output "1 of 2 work; 1 refused, 0 differ"

mkdir programs
cat >programs/tests.cu <<'END'
// GROUP: tests
#include <cstdio>

// FEATURE: right: right, "quoted"
__global__ void show(int* x) { *x = 1; }
int main() {
  int* x;
  cudaMallocManaged(&x, 4);
  show<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  std::puts(*x == 1 ? "ok" : "differs");
}

// FEATURE: wrong: it says so
int main() { std::puts("differs"); return 1; }

// FEATURE: unknown: what it includes is not there
#include <no_such_header.h>
int main() {}

// FEATURE: silent: says nothing
int main() {}
END
cat >programs/more.cu <<'END'
// GROUP: tests
// FEATURE: failing: an error
#include <cstdio>
int main() { std::fprintf(stderr, "x.cu:3: error: this is not there\n"); return 2; }
END
compatibility() { run "$python" common/tools/checks/compatibility.py --programs programs --stored stored.csv "$@"; }
# row NAME RESULT TEXT: as the table has it
row() { printf 'a machine,2026-01-31,%s,tests,%s,%s,%s\n' "$1" "$2" "$1" "$3"; }

test_case "each program is said to work, to differ or to be refused, with the line that says why"
compatibility --out first.csv
expect_status 0
expect_output "works    right"
expect_output "differs  wrong"
expect_output "differs  silent"
expect_output "refused  unknown"
expect_output "no_such_header.h"
expect_output "refused  failing              this is not there"
expect_output "1 of 5 work; 2 refused, 2 differ"
expect "a row for each, and the names of the columns" [ "$(grep -c . first.csv)" -eq 6 ]
expect "a compiler is shown the lines of the file" [ "$(grep -n no_such_header build/compatibility/cpu/unknown.cu)" = \
  "$(grep -n no_such_header programs/tests.cu)" ]
expect "quotes are doubled" grep -q ',right,tests,works,"right, ""quoted""",$' first.csv

test_case "it fails where a program that the stored table says works does not work"
{ head -n 1 first.csv; row right works ''; row wrong works ''; row unknown refused 'not there'; row silent works ''; } >stored.csv
compatibility
expect_status 1
expect_output "do not any more: silent wrong"

test_case "what never worked, is new or works now is no failure"
{ head -n 1 first.csv; row right refused 'not there'; row wrong differs ''; } >stored.csv
compatibility --only "right wrong unknown"
expect_status 0
expect_output "1 of 3 work"

test_case "of a part the stored rows of other programs stay"
{ head -n 1 first.csv; row right refused 'not there'; row another works ''; } >kept.csv
compatibility --only right --out kept.csv
expect_status 0
expect "two rows" [ "$(grep -c . kept.csv)" -eq 3 ]
expect "the old one" grep -q '^a machine,2026-01-31,another,tests,works' kept.csv
expect "the new one" grep -q ',right,tests,works' kept.csv

test_case "a name that is no program's is refused"
compatibility --only nothing
expect_status 2
expect_one_error_line
expect_output "nothing: no such program in programs"
