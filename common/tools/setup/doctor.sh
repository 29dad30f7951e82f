#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Says what is installed and what is not: ok, -- (optional and missing) or FAIL (needed and missing).
#
#   doctor.sh CXX NVCC [CATCH2_DIR]
set -u
tools=$(dirname "$(dirname "$0")")
. "$tools/run/terminal.sh"

cxx=$1
nvcc=$2
catch2_dir=${3:-}
failures=0

line() { printf '  %s%-4s%s  %-18s %s\n' "$1" "$2" "$plain" "$3" "$4"; }
ok() { line "$green" ok "$1" "$2"; }
missing() { line "$dim" -- "$1" "$2"; }
fail() {
  line "$red" FAIL "$1" "$2"
  failures=$((failures + 1))
}
group() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
have() { command -v "$1" >/dev/null 2>&1; }
how() { "$tools/setup/install.sh" --how "$1"; }
# at_least 3.81 4.3: true when the second is not older than the first
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t. -k1,1n -k2,2n | head -1)" = "$1" ]; }
number() { sed -n 's/^[^0-9]*\([0-9][0-9]*\.[0-9.]*[0-9]\).*/\1/p' | head -1; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/doctor.XXXXXX" 2>/dev/null) || {
  echo "doctor.sh: no folder for temporary files: ${TMPDIR:-/tmp} cannot be written; set TMPDIR" >&2
  exit 2
}
trap 'rm -rf "$scratch"' EXIT
echo 'int main() { return 0; }' >"$scratch/empty.cpp"
compiles() { "$cxx" "$@" "$scratch/empty.cpp" -o "$scratch/empty" >/dev/null 2>&1; }

group "To run a chapter"
version=$(make --version 2>/dev/null | number)
if at_least 3.81 "${version:-0}"; then ok make "$version"; else fail make "${version:-missing}: needs GNU make 3.81"; fi
version=${BASH_VERSION%%(*}
if at_least 3.2 "$version"; then ok bash "$version"; else fail bash "$version: needs 3.2"; fi
if ! have "$cxx"; then
  fail "$cxx" "no C++ compiler; run: $(how compiler)"
elif compiles -std=c++17; then
  ok "$cxx" "$("$cxx" -dumpfullversion 2>/dev/null || "$cxx" -dumpversion)"
else
  fail "$cxx" "does not compile C++17; GCC 10 or clang 10 would"
fi

group "To run on a GPU"
gpu=$(nvidia-smi -L 2>/dev/null | sed -n 's/^GPU [0-9]*: \(.*\) (UUID.*/\1/p' | head -1)
if [ -n "$gpu" ]; then
  ok GPU "$gpu, driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1)"
else
  missing GPU "nvidia-smi lists none"
fi
if have "$nvcc"; then
  ok nvcc "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
elif [ -x /usr/local/cuda/bin/nvcc ]; then
  missing nvcc "not on PATH; run: export PATH=/usr/local/cuda/bin:\$PATH"
else
  missing nvcc "comes with the CUDA toolkit, https://developer.nvidia.com/cuda-downloads"
fi
for tool in compute-sanitizer ncu; do
  verb=sanitize
  [ $tool = ncu ] && verb=profile
  if have $tool; then
    ok $tool "$($tool --version 2>/dev/null | sed -n 's/.*Version \([0-9.]*\).*/\1/p' | head -1)"
  else
    missing $tool "for make $verb; comes with the CUDA toolkit"
  fi
done

group "To test"
answer=''
if have "$cxx"; then answer=$(INSTALL=no "$tools/setup/catch2.sh" "$cxx" "$catch2_dir"); fi
case $answer in
  ok*) ok Catch2 "$(echo "$answer" | grep -q 'libCatch2\|-lCatch2\|amalgamated' && echo v3 || echo v2)" ;;
  *) missing Catch2 "make test installs it, or run: $(how catch2)" ;;
esac
for kind in address,undefined thread; do
  name=ASan/UBSan
  [ $kind = thread ] && name=TSan
  if have "$cxx" && compiles -fsanitize=$kind; then
    ok $name "make sanitize BACKEND=cpu"
  else
    hint=$(how sanitizers)
    missing $name "for make sanitize BACKEND=cpu${hint:+; run: $hint}"
  fi
done
if have addr2line || have atos; then
  ok addr2line "names the line in the CPU backend's reports"
else
  missing addr2line "(binutils) names the line in the CPU backend's reports"
fi

group "To grade"
if [ "$(uname -s)" != Linux ]; then
  missing bubblewrap "is for Linux: without it make grade keeps less out"
elif ! have bwrap; then
  missing bubblewrap "keeps submissions to themselves in make grade; run: $(how bubblewrap)"
elif bwrap --unshare-all --ro-bind / / true >/dev/null 2>&1; then
  ok bubblewrap "$(bwrap --version | number)"
else
  missing bubblewrap "is installed, but this system does not let it make a sandbox: make grade keeps less out"
fi

group "To write"
if python=$("$tools/setup/python.sh"); then
  ok python3 "$("$python" --version 2>&1 | number)"
else
  missing python3 "3.8, for make lab, notes and check; run: $(how python)"
fi
if python=$("$tools/setup/python.sh" --matplotlib); then
  ok matplotlib "$("$python" -c 'import matplotlib; print(matplotlib.__version__)')"
else
  missing matplotlib "for make figures; run: $(how matplotlib)"
fi
if have node && have npm; then
  ok node "$(node --version | number)"
else
  missing node "18, with npm, for make slides and site; run: $(how node) && $(how npm)"
fi
if chromium=$("$tools/setup/chromium.sh"); then
  ok chromium "$("$chromium" --version 2>/dev/null | number)"
else
  missing chromium "for slides as PDF, and to look at slides and site; run: $(how chromium)"
fi
for tool in clang-format shellcheck; do
  if have $tool; then
    ok $tool "$($tool --version | number)"
  else
    missing $tool "for make check; run: $(how $tool)"
  fi
done

echo
if [ $failures -gt 0 ]; then
  echo "$failures needed and missing: see FAIL above; make setup installs what it can"
  exit 1
fi
if [ -n "$gpu" ] && have "$nvcc"; then
  echo "Everything needed is here: make run CH=05"
else
  echo "Everything needed is here. Without a GPU all chapters run, are tested and are checked for races"
  echo "and bad accesses on the CPU backend; only the measured speeds need the GPU: make run CH=05"
fi
