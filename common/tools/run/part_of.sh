#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Of the words on standard input, the k-th of n parts: every n-th word, from the k-th on.
#
#   part_of.sh k/n
# Prints nothing where k/n is not two numbers with 1 <= k <= n.
set -u
[[ $1 =~ ^([1-9][0-9]{0,3})/([1-9][0-9]{0,3})$ ]] || exit 0
part=${BASH_REMATCH[1]} parts=${BASH_REMATCH[2]}
[ "$part" -le "$parts" ] || exit 0
tr -s ' ' '\n' | awk -v part="$part" -v parts="$parts" 'NR % parts == part % parts'
