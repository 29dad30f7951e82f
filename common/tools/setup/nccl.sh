#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints where NCCL is, as flags for nvcc: what to compile with, which may be nothing, and what to link with, nothing when
# NCCL is not there. It is looked for in NCCL_HOME; else in the toolkit, in the system and in Python's package nvidia-nccl-cu13.
#
#   nccl.sh compile|link NVCC [NCCL_HOME]
set -u

wanted=$1
nvcc=$(command -v "$2") || exit 0
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")

# Ends the search where both the header and the library are. A package may have no libnccl.so, only the name with the
# version, and no loader looks there. nvcc finds the toolkit's and the system's headers by itself.
look_in() {
  local lib
  [ -f "$1/include/nccl.h" ] || return 0
  for lib in lib64 lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu; do
    [ -e "$1/$lib/libnccl.so.2" ] || continue
    case $wanted:$1 in
      compile:"$toolkit" | compile:/usr) ;;
      compile:*) echo "-isystem $1/include" ;;
      link:/usr) echo -lnccl ;;
      link:*) echo "-L$1/$lib -l:libnccl.so.2 -Xlinker -rpath=$1/$lib" ;;
    esac
    exit 0
  done
}

if [ -n "${3:-}" ]; then
  look_in "$(readlink -f "$3")"
  exit 0
fi
look_in "$toolkit"
look_in /usr
look_in "$(python3 -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])' 2>/dev/null || echo /none)"
