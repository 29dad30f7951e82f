#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What may have been meant: near.sh NAME 'NAME...' prints the known names that are nearest to the given one, else those
# that learners use.
awk -v name="$1" -v known="$2" '
function least(a, b) { return a < b ? a : b }
# How many letters to change, add or leave out.
function distance(a, b,   i, j, d) {
  for (i = 0; i <= length(a); i++) d[i, 0] = i
  for (j = 0; j <= length(b); j++) d[0, j] = j
  for (i = 1; i <= length(a); i++)
    for (j = 1; j <= length(b); j++) {
      d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1)))
      if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
        d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
    }
  return d[length(a), length(b)]
}
BEGIN {
  asked = toupper(name)
  count = split(known, names, " ")
  for (k = 1; k <= count; k++) {
    away = distance(asked, names[k])
    begins = length(asked) > 1 && (index(names[k], asked) == 1 || (length(names[k]) > 1 && index(asked, names[k]) == 1))
    if (away > 2 || away >= length(names[k])) { if (!begins) continue; away = 2 }
    near[away] = near[away] " " names[k] "="
  }
  for (away = 0; away <= 2 && text == ""; away++) text = near[away]
  if (text != "") print "near it:" text
  else print "common ones: CH= EX= ARGS= N= BACKEND= FILE="
}'
