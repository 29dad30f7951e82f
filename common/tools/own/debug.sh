#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Starts a program in gdb: debug.sh PROGRAM 'SOURCE...' -- [OPTION...]; no sources: those that FILE names
#
# It stops where the backend is about to report a bug. With BLOCK= and THREAD= (from the environment; x, or x,y,z) it
# also stops when that thread begins a kernel: any __global__ function of the sources.
set -u
stop() { echo "$1" >&2; exit 2; }

program=$1
# shellcheck disable=SC2206  # names of chapters' files are words
files=($2)
shift 3
[ -n "$program" ] || stop "make debug: which program? CH=05, or FILE=work/hello.cu"
case $program in build/gpu/*) stop "make debug is for the CPU backend (BACKEND=cpu); on a GPU: cuda-gdb $program" ;; esac
if [ ${#files[@]} -eq 0 ]; then
  said=$(common/tools/setup/python.sh --run tools.own.own_programs files) || exit 2
  while IFS= read -r file; do files+=("$file"); done <<<"$said"
fi
command -v gdb >/dev/null 2>&1 || stop "gdb is not here; where it comes from: make doctor"

# condition NAME TEXT VARIABLE: the index that TEXT names, as gdb reads it from the backend
condition() {
  local i text=$2 parts=() said=''
  [[ $text =~ ^[0-9]+(,[0-9]+){0,2}$ ]] || stop "$1=$text: expected an index, x or x,y or x,y,z, as in $1=5"
  IFS=, read -r -a parts <<<"$text"
  for i in 0 1 2; do said="$said && ((unsigned*)&$3)[$i] == ${parts[i]:-0}"; done
  printf '%s' "${said# && }"
}

commands=(-x "$(dirname "$0")/debug.gdb")
if [ -n "${THREAD:-}${BLOCK:-}" ]; then
  thread=$(condition THREAD "${THREAD:-0}" cuda_cpu_thread_index) || exit 2
  block=$(condition BLOCK "${BLOCK:-0}" cuda_cpu_block_index) || exit 2
  kernels=$(cat "${files[@]}" | tr '\n' ' ' | grep -oE '__global__[^({;]*(__launch_bounds__\([^)]*\))?[^({;]*\(' |
    sed -E 's/__launch_bounds__\([^)]*\)//; s/[[:space:]]*\($//; s/.*[^A-Za-z0-9_]//' | sort -u)
  [ -n "$kernels" ] || stop "no __global__ function in ${files[*]}: nothing to stop in"
  for kernel in $kernels; do commands+=(-ex "break $kernel if $thread && $block"); done
fi
if [ -t 0 ]; then
  echo "run starts it, next and step go on, print x shows a variable, bt the calls, continue goes to the next stop;"
  echo "where_am_i tells block and thread; quit ends it"
fi
exec gdb -q "${commands[@]}" --args "$program" "$@"
