#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints which of these files need a library of the backend, which is compiled only for those.
#
#   users.sh cublas|driver|graphs|nccl|tensor|textures FILE...
library=$1
shift
case $library in
  graphs) LC_ALL=C exec grep -lE 'cudaGraph|Captur' "$@" ;;
  textures) # graphs copy from arrays to arrays
    LC_ALL=C exec grep -lE 'cudaGraph|Captur|[tT]exture|[sS]urface|cuda[A-Za-z0-9]*(Array|3D)' "$@"
    ;;
esac

# cuBLAS, the driver API, NCCL and tensor cores: those that include the header, themselves or through others of them.
case $library in
  cublas) header=cublas_v2.h ;;
  driver) header=cuda.h ;;
  nccl) header=nccl.h ;;
  tensor) header=tensor_instructions.h ;;
esac
LC_ALL=C grep -Hs '^[[:space:]]*#[[:space:]]*include' "$@" | awk -F'[<">]' -v header="$header" '
function name_of(path) { sub(/.*\//, "", path); return path }
{
  files[NR] = $1
  sub(/:.*/, "", files[NR])
  includes[NR] = name_of($2)
}
END {
  wanted[header] = 1
  do {
    more = 0
    for (i = 1; i <= NR; i++)
      if (includes[i] in wanted && !(files[i] in found)) {
        found[files[i]] = 1
        wanted[name_of(files[i])] = more = 1
      }
  } while (more)
  for (file in found) print file
}'
