#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Types are narrowed and guards dropped where a starter has its TODO, and nowhere else; what the mutants list has, and
# what is right for a reason that the tool knows, is not tried.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

if ! python=$(common/tools/setup/python.sh); then
  test_case "narrowed solutions"
  skip "python3 is not here"
  exit
fi

here=$PWD
folder=$scratch/tree/chapters/99_sums/exercises
mkdir -p "$folder/solutions"
cd "$scratch/tree" || exit 1
cp -R "$here/common" .
printf '## 1. Sum\n' >"$folder/README.md"
echo '// a check' >"$folder/ex1_sum.check.cu"
cat >"$folder/ex1_sum.cu" <<'END'
__global__ void sum(const int* x, std::size_t n, long long* sums) {
  const std::size_t outside = n;
  // TODO: the sum.
  // end of TODO
}
END
cat >"$folder/solutions/ex1_sum.cu" <<'END'
__global__ void sum(const int* x, std::size_t n, long long* sums) {
  const std::size_t outside = n;
  const int first = 0, last = f(n, 1);  // int i = 0;
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 2;
  double total = 0;
  for (long long k = i; k < 9 && n > 2; ++k) total += x[k];
  if (i < n && (i > 3 || i == 1)) sums[i] = last > 2 ? total : first;
}
END
cat >"$folder/solutions.mutants" <<'END'
[ex1_sum]
no_total: total += x[k] => total = x[k]
total_of_floats: double total => float total
END

edits() { run "$python" "$here/common/tools/checks/narrowed.py" "$@"; }
# listed KIND: the edits of one kind, as old => new
listed() {
  edits --list --kinds "$1" 99.1
  expect_status 0
  found=$(printf '%s\n' "$out" | sed -n "s/^99.1:[0-9]*: $1: //p" | sort)
}
is() { [ "$found" = "$(sort)" ]; }

test_case "each variable of a narrower type, in a declaration of several one by one"
cd "$scratch/tree" || exit 1
listed type
expect "all types, and neither the comment nor what stands outside of the TODO" is <<'END'
const int first = 0, last = f(n, 1); => const short first = 0; const int last = f(n, 1);
const int first = 0, last = f(n, 1); => const int first = 0; const short last = f(n, 1);
const int first = 0, last = f(n, 1); => const signed char first = 0; const int last = f(n, 1);
const int first = 0, last = f(n, 1); => const int first = 0; const signed char last = f(n, 1);
const int first = 0, last = f(n, 1); => const float first = 0; const int last = f(n, 1);
const int first = 0, last = f(n, 1); => const int first = 0; const float last = f(n, 1);
const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 2; => const unsigned short i = static_cast<std::size_t>(blockIdx.x) * 2;
const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 2; => const unsigned char i = static_cast<std::size_t>(blockIdx.x) * 2;
double total = 0; => int total = 0;
for (long long k = i; k < 9 && n > 2; ++k) total += x[k]; => for (int k = i; k < 9 && n > 2; ++k) total += x[k];
for (long long k = i; k < 9 && n > 2; ++k) total += x[k]; => for (short k = i; k < 9 && n > 2; ++k) total += x[k];
for (long long k = i; k < 9 && n > 2; ++k) total += x[k]; => for (float k = i; k < 9 && n > 2; ++k) total += x[k];
for (long long k = i; k < 9 && n > 2; ++k) total += x[k]; => for (double k = i; k < 9 && n > 2; ++k) total += x[k];
END

test_case "casts are narrowed, and terms of guards go"
cd "$scratch/tree" || exit 1
listed cast
expect "both narrow casts" is <<'END'
const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 2; => const std::size_t i = static_cast<unsigned short>(blockIdx.x) * 2;
const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 2; => const std::size_t i = static_cast<unsigned char>(blockIdx.x) * 2;
END
listed guard
expect "every term" is <<'END'
for (long long k = i; k < 9 && n > 2; ++k) total += x[k]; => for (long long k = i; k < 9; ++k) total += x[k];
for (long long k = i; k < 9 && n > 2; ++k) total += x[k]; => for (long long k = i; n > 2; ++k) total += x[k];
if (i < n && (i > 3 || i == 1)) sums[i] = last > 2 ? total : first; => if ((i > 3 || i == 1)) sums[i] = last > 2 ? total : first;
if (i < n && (i > 3 || i == 1)) sums[i] = last > 2 ? total : first; => if (i < n) sums[i] = last > 2 ? total : first;
if (i < n && (i > 3 || i == 1)) sums[i] = last > 2 ? total : first; => if (i < n && (i > 3)) sums[i] = last > 2 ? total : first;
if (i < n && (i > 3 || i == 1)) sums[i] = last > 2 ? total : first; => if (i < n && (i == 1)) sums[i] = last > 2 ? total : first;
if (i < n && (i > 3 || i == 1)) sums[i] = last > 2 ? total : first; => if (i < n && (i > 3 || i == 1)) sums[i] = true ? total : first;
END

test_case "what does not exist is one clear line"
cd "$scratch/tree" || exit 1
edits --list 99.7
expect_status 2
expect_output "99.7: no exercise of that name or number"
edits --list --kinds words 99
expect_status 2
expect_output "--kinds words: there are type,cast,guard"
