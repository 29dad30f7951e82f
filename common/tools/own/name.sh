#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints "ok NAME" for the program that FILE= names, or "error TEXT" for that or DEFINE=: one line in either case.
set -u
. "$(dirname "$0")/files.sh"
files=() defines=()
if complaint=$(own_files && own_defines); then
  own_files
  echo "ok $(own_name)"
else
  echo "error $complaint"
fi
