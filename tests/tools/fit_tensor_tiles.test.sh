#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The fit of chapter 16's choice gives back the numbers from which the chapter's own model has computed the times.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

case="the fit of plans that take what choice.cuh predicts has the numbers of choice.cuh"
python=$(common/tools/setup/python.sh --matplotlib)
"${python:-false}" -c 'import scipy' 2>/dev/null || skip_rest "$case" "python3 with SciPy is not here"
export PYTHONDONTWRITEBYTECODE=1
own_tree "$scratch/tree"
cd "$scratch/tree" || exit 1
mkdir -p work
cat >work/plans.cu <<'CU'
#include "../chapters/16_tensor_cores/choice.cuh"
int main() {
  std::puts("m,n,k,tile,rows,columns,down,across,turned,parts,us,library_us");
  for (unsigned i = 0; i < 60; ++i) {
    // Some are flat: memory is their limit.
    const bool flat = i % 6 == 0;
    const unsigned m = flat ? 64 : random_int(8, 300, 1, i) * 8,
                   n = random_int(8, flat ? 2000 : 300, 2, i) * 8,
                   k = random_int(8, i % 2 == 0 ? 100 : 2000, 3, i) * (flat ? 80 : 8);
    for (unsigned tile = 0; tile < std::size(kTileTimes); ++tile) {
      const TileTimes& t = kTileTimes[tile];
      for (unsigned parts = 1; parts <= 4; ++parts)
        std::printf("%u,%u,%u,%u,%u,%u,%u,%u,%d,%u,%.4f,1\n", m, n, k, tile, t.rows, t.columns,
                    t.down, t.across, t.turned, parts, plan_of(m, n, k, 132, tile, parts).us);
    }
    std::printf("%u,%u,%u,99,32,64,1,1,1,1,1,1\n", m, n, k);  // a tile that the table does not have
  }
}
CU

test_case "$case"
run make --no-print-directory run FILE=work/plans.cu BACKEND=cpu RACES=0
expect_status 0
grep '^m,\|^[0-9]' <<<"$out" >plans.csv
run env PYTHONPATH="$PWD" "$python" -m common.tools.measure.fit_tensor_tiles plans.csv
expect_status 0
numbers() { grep -o '{[0-9]*, [0-9]*, [^}]*}\|\bk[A-Z][A-Za-z]* = *[0-9.e]*[0-9]'; }
expect "27 tiles and four numbers" [ "$(numbers <<<"$out" | wc -l)" -eq 31 ]
while read -r found; do
  expect "$found as in choice.cuh" grep -qxF "$found" <(tr -s '\n ' ' ' <chapters/16_tensor_cores/choice.cuh | numbers)
done < <(numbers <<<"$out")
