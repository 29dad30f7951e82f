#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints which of these files include a header, themselves or through others of them.
#
#   includers.sh HEADER FILE...
header=$1
shift
LC_ALL=C grep -Hs '^#include' "$@" | awk -v header="$header" '
{
  file = $0
  sub(/:.*/, "", file)
  included = $0
  sub(/^[^<"]*[<"]/, "", included)
  sub(/[>"].*/, "", included)
  sub(/.*\//, "", included)
  files[NR] = file
  includes[NR] = included
}
END {
  wanted[header] = 1
  do {
    more = 0
    for (i = 1; i <= NR; i++)
      if (includes[i] in wanted && !(files[i] in found)) {
        found[files[i]] = 1
        name = files[i]
        sub(/.*\//, "", name)
        wanted[name] = more = 1
      }
  } while (more)
  for (file in found) print file
}'
