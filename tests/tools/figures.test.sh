#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Figures come from what was measured and from what X-ray sees in the kernels, and can be read.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"
unset CSV BLOCKS ONLY FIGURES_ROOT
unset "${!XRAY_@}" "${!CUDA_CPU_@}"

# A copy of all that draws and traces, without history or build, in which tests change something.
copy=$scratch/tree
mkdir -p "$copy"
cp -R chapters common "$copy/"
in_copy() { (cd "$copy" && "$@"); }

# ---- the traces that figures draw ----------------------------------------------------------------

dir=build/cpu-xray
read -r -a traced <<<"$(grep -lE '^\[(traces|events|steps)\]' chapters/*/settings | cut -d/ -f2 | tr '\n' ' ')"
programs=() # of those chapters, and their experiments
for chapter in "${traced[@]}"; do
  programs+=("$dir/$chapter")
  for source in chapters/"$chapter"/experiments/*.cu; do
    [ ! -f "$source" ] || programs+=("$dir/${chapter%%_*}_$(basename "$source" .cu)")
  done
done
make -s "${programs[@]}" >"$scratch/build" 2>&1 || cat "$scratch/build"
traces() { common/tools/setup/python.sh --run tools.measure.xray_traces "$@"; }

test_case "the stored traces are what X-ray sees in the kernels"
run traces --check $dir "${traced[@]}"
expect_status 0
expect "nothing else said" [ -z "$output" ]

# The copy has the programs, and xray.sh writes below build/.
mkdir -p "$copy/build"
ln -s "$PWD/$dir" "$copy/build/cpu-xray"
tree=05_shared_tree_reduction
stored=chapters/$tree/results/xray.csv settings=chapters/$tree/settings plain=$scratch/settings
# It has no Makefile, which makes a program without its barriers.
sed '/^\[without_barriers\]/,/^$/d' chapters/$tree/settings >"$plain"
cp "$plain" "$copy/$settings"
rm "$copy/chapters/$tree/results/races.json"

test_case "a trace that a kernel no longer makes is found"
sed 's/,18,10,/,19,10,/' $stored >"$copy/$stored"
complains_in_a_line 1 "$stored: the kernels do something else now; run make xray-traces figures" run in_copy traces --check $dir $tree

test_case "tracing again mends it, byte for byte"
answers 0 "traced $stored" run in_copy traces $dir $tree
expect "the same file" cmp -s $stored "$copy/$stored"

test_case "steps of a block that a kernel no longer makes are found, and tracing again mends them, byte for byte"
events=chapters/$tree/results/events.json
sed '/"shared","store"/d' $events >"$copy/$events"
complains_in_a_line 1 "$events: the kernels do something else now; run make xray-traces" run in_copy traces --check $dir $tree
answers 0 "traced $events" run in_copy traces $dir $tree
expect "the same file" cmp -s $events "$copy/$events"

test_case "a trace that is missing, or that settings do not name, is found"
rm "$copy/$stored"
answers 1 "$stored: the kernels do something else now" run in_copy traces --check $dir $tree
{ cat $stored; sed -n '2s/^[a-z]*,/other,/p' $stored; } >"$copy/$stored"
run in_copy traces --check $dir $tree
expect_status 1
cp $stored "$copy/$stored"

test_case "a name that is none is refused in one line"
awk '{ print } /^\[traces\]/ { print "../x: --n 32" }' "$plain" >"$copy/$settings"
complains_in_a_line 1 "'../x': a name is made of a-z, 0-9 and _" run in_copy traces $dir $tree

test_case "a version that there is not leaves the stored traces alone"
awk '{ print } /^\[traces\]/ { print "new: --only no_such_version" }' "$plain" >"$copy/$settings"
answers 1 "no_such_version" run in_copy traces $dir $tree
expect "the traces are as they were" cmp -s $stored "$copy/$stored"
cp "$plain" "$copy/$settings"

# ---- the figures ---------------------------------------------------------------------------------

python=$(common/tools/setup/python.sh --matplotlib) ||
  skip_rest "figures follow their data" "python3 with matplotlib is not here"
for program in node npm; do
  command -v $program >/dev/null 2>&1 && continue
  skip_rest "figures follow their data" "$program is not here"
done
mkdir -p build/slides/packages "$copy/slides" "$copy/build/slides"
ln -s "$PWD/build/slides/packages" "$copy/build/slides/packages"
cp slides/package.json slides/package-lock.json "$copy/slides/"
draw() { in_copy common/tools/figures/figures.sh "$@"; }
figure=chapters/$tree/figures/ladder.svg

test_case "drawing again gives the same bytes"
draw $tree >/dev/null 2>&1
cp -R "$copy/chapters/$tree/figures" "$scratch/once"
run draw $tree
expect_status 0
expect "nothing drawn anew" [ -z "$output" ]
expect "the same files" diff -r "$scratch/once" "$copy/chapters/$tree/figures"
expect "what screen readers read" grep -q 'role="img".*<title id="title">.*<desc id="desc">' "$copy/$figure"

test_case "a number that changes in a CSV changes the figure, and is found until it is drawn"
measured=chapters/$tree/results/h200.csv
awk 'BEGIN { FS = OFS = "," } $12 == "shared_sequential" { $13 = 0.5 } { print }' "$measured" >"$copy/$measured"
answers 1 "$figure: drifted from its script or data; run make figures" run draw --check $tree
answers 0 "drew $figure" run draw $tree
cp "$measured" "$copy/$measured"

test_case "a picture whose counts are not X-ray's is not drawn"
sed 's/,10,62,496,/,10,63,496,/' $stored >"$copy/$stored"
complains_in_a_line 1 "X-ray counted" run draw $tree
cp $stored "$copy/$stored"

# refused TEXT STATEMENT: a figure with this statement in it is refused, and TEXT says why
refused() {
  cat >"$scratch/try.py" <<PYTHON
import sys
sys.argv[0] = "05_shared_tree_reduction.py"
sys.path.insert(0, ".")
from common.tools.figures import style
fig, ax = style.canvas(3)
style.words(ax, 20, 20, "first")
$2
style.save(fig, "try", "title", "description")
PYTHON
  answers fails "$1" run env FIGURES_ROOT="$scratch/drawn" PYTHONDONTWRITEBYTECODE=1 "$python" "$scratch/try.py"
  expect "no figure" [ ! -e "$scratch/drawn/chapters/$tree/figures/try.svg" ]
}
test_case "text that cannot be read is refused: small, pale, over other text, outside"
refused "'tiny' is " 'style.words(ax, 20, 60, "tiny", size=6)'
refused "'pale' has a contrast of " 'style.words(ax, 20, 60, "pale", color="#AAAAAA")'
refused "'dark' has a contrast of " 'style.box(ax, 10, 50, 90, 20, style.BLUE); style.words(ax, 20, 60, "dark")'
refused "'light' has a contrast of 2.7 in the dark" 'style.box(ax, 10, 50, 90, 20, style.GREEN); style.words(ax, 20, 60, "light")'
refused "'first' lies over 'second'" 'style.words(ax, 24, 22, "second")'
refused "'far' sticks out of the figure" 'style.words(ax, 440, 60, "far")'
