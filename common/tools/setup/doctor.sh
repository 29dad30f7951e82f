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
# tool NAME TEXT HINT TEST...: ok and the text where the test succeeds, else the hint
tool() {
  local name=$1 text=$2 hint=$3
  shift 3
  if "$@" >/dev/null 2>&1; then ok "$name" "$text"; else missing "$name" "$hint"; fi
}
fail() {
  line "$red" FAIL "$1" "$2"
  failures=$((failures + 1))
}
group() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
have() { # PROGRAM...
  local name
  for name in "$@"; do command -v "$name" >/dev/null 2>&1 || return 1; done
}
how() { "$tools/setup/install.sh" --how "$@"; }
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
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1)
tool GPU "$gpu, driver $driver" "nvidia-smi lists none" [ -n "$gpu" ]
hint="comes with the CUDA toolkit, https://developer.nvidia.com/cuda-downloads"
[ ! -x /usr/local/cuda/bin/nvcc ] || hint="not on PATH; run: export PATH=/usr/local/cuda/bin:\$PATH"
tool nvcc "$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')" "$hint" have "$nvcc"
for name in compute-sanitizer:sanitize ncu:profile; do
  version=$("${name%:*}" --version 2>/dev/null | sed -n 's/.*Version \([0-9.]*\).*/\1/p' | head -1)
  tool "${name%:*}" "$version" "for make ${name#*:}; comes with the CUDA toolkit" have "${name%:*}"
done

group "To test"
answer=''
if have "$cxx"; then answer=$(INSTALL=no "$tools/setup/catch2.sh" "$cxx" "$catch2_dir"); fi
case $answer in
  *libCatch2* | *-lCatch2* | *amalgamated*) version=v3 ;;
  *) version=v2 ;;
esac
tool Catch2 $version "make test installs it, or run: $(how catch2)" [ "${answer%% *}" = ok ]
hint=$(how sanitizers)
hint="for make sanitize BACKEND=cpu${hint:+; run: $hint}"
tool ASan/UBSan "make sanitize BACKEND=cpu" "$hint" compiles -fsanitize=address,undefined
text="names the line in the CPU backend's reports"
if have atos; then ok addr2line "$text"; else tool addr2line "$text" "(binutils) $text" have addr2line; fi

group "To grade"
if [ "$(uname -s)" != Linux ]; then
  missing bubblewrap "is for Linux: without it make grade keeps less out"
elif ! have bwrap; then
  missing bubblewrap "keeps submissions to themselves in make grade; run: $(how bubblewrap)"
else
  tool bubblewrap "$(bwrap --version | number)" "is installed, but this system does not let it make a sandbox: make grade keeps less out" \
    bwrap --unshare-all --ro-bind / / true
fi

group "To write"
python=$("$tools/setup/python.sh")
tool python3 "$("${python:-false}" --version 2>&1 | number)" "3.8, for make lab, notes and check; run: $(how python)" [ -n "$python" ]
python=$("$tools/setup/python.sh" --matplotlib)
version=$("${python:-false}" -c 'import matplotlib; print(matplotlib.__version__)')
tool matplotlib "$version" "for make figures; run: $(how matplotlib)" [ -n "$python" ]
hint="18, with npm, for make figures, slides and site; run: $(how node npm)"
tool node "$(node --version 2>/dev/null | number)" "$hint" have node npm
chromium=$("$tools/setup/chromium.sh")
hint="for slides as PDF, and to look at slides and site; run: $(how chromium)"
tool chromium "$("${chromium:-false}" --version 2>/dev/null | number)" "$hint" [ -n "$chromium" ]
for name in clang-format shellcheck; do
  tool $name "$($name --version 2>/dev/null | number)" "for make check; run: $(how $name)" have $name
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
