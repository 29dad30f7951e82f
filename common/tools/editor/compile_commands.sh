#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes compile_commands.json, from which clangd learns how to read every source: errors, completion and
# jumps in the .cu files, without a GPU and without the CUDA toolkit.
#
#   compile_commands.sh FLAGS...      the CPU backend's flags; a warning stays a warning in an editor
#
# A .cu file is read in clang's own CUDA mode, host side, against the CPU backend's headers.
set -u
tools=$(dirname "$(dirname "$0")")

flags=()
for flag in "$@"; do
  case $flag in -Werror | -Wno-error=* | -g) ;; *) flags+=("$flag") ;; esac
done
read -r -a catch2 <<<"$(INSTALL=no "$tools/setup/catch2.sh" clang++ "${CATCH2_DIR:-}" | sed -n 's/^ok *//p')"
for flag in ${catch2[@]+"${catch2[@]}"}; do
  case $flag in -I* | -D*) flags+=("$flag") ;; esac
done
cuda=(-x cuda --cuda-host-only -nocudainc -nocudalib -Wno-unknown-cuda-version
  -Xclang -fcuda-allow-variadic-functions -include "$tools/editor/cuda_for_clang.h")

# quoted TEXT...: sets $list to the texts as JSON strings, each with a comma after it
quoted() {
  local text
  list=''
  for text in "$@"; do
    text=${text//\\/\\\\}
    list+="\"${text//\"/\\\"}\", "
  done
}
quoted "$PWD" && here=$list
quoted clang++ "${flags[@]}" -c && for_cpp=$list
quoted clang++ "${flags[@]}" -I. "${cuda[@]}" -c && for_cu=$list

# Without the programs that the pre-pass must refuse.
sources=$(find chapters common tests work -path tests/backend/prepass -prune -o \
  -type f \( -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) -print 2>/dev/null | sort)
comma=''
{
  printf '['
  while read -r file; do
    quoted "$file"
    list=${list%, }
    case $file in *.cpp) arguments=$for_cpp ;; *) arguments=$for_cu ;; esac
    printf '%s\n  {"directory": %s"file": %s,\n   "arguments": [%s%s]}' "$comma" "$here" "$list" "$arguments" "$list"
    comma=,
  done <<<"$sources"
  printf '\n]\n'
} >compile_commands.json.partial && mv compile_commands.json.partial compile_commands.json || exit 1
echo "compile_commands.json: $(wc -l <<<"$sources" | tr -d ' ') files; an editor with clangd finds it here"
