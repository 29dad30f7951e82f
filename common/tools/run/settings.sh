#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints what a section of chapters/NN_name/settings says of a program, a line for each run: the lines without @ of the
# chapter's own program, those with @topic of the experiment `topic`, without that word.
#
#   settings.sh SECTION PROGRAM          e.g. settings.sh small 05_end_to_end
#   settings.sh bugs PROGRAM             the lines of [small] with `=> TEXT`: runs that must fail, and say TEXT
#
# Where [small] has nothing to say of a program, one run with a single sample is small enough.
set -u
section=$1 program=$2
case $program in own/*) echo && exit ;; esac # whose options nobody knows

number=${program%%_*} topic=@${program#*_} lines=''
source=$(echo chapters/"${number}"_*/experiments/"${program#*_}".cu)
if [ ! -f "$source" ]; then topic='' source=chapters/$program/${program#*_}.cu; fi
settings=${source%/*}/settings
settings=${settings/\/experiments/}
[ ! -f "$settings" ] || lines=$(awk -v section="[${section/bugs/small}]" -v topic="$topic" '
  /^\[/ { inside = $0 == section; next }
  !inside || /^ *(#|$)/ { next }
  { name = ""; if (match($0, /^[a-z0-9_]+: */)) { name = substr($0, 1, RLENGTH); $0 = substr($0, RLENGTH + 1) } }
  /^@/ != (topic != "") || (topic != "" && $1 != topic) { next }
  { sub(/^@[a-z0-9_]+ */, ""); print name $0 }' "$settings")
case $section in
  bugs) grep -E '(^| )=> ' <<<"$lines" ;;
  small)
    if [ -n "$lines" ]; then
      grep -vE '(^| )=> ' <<<"$lines"
    elif grep -q common.cuh "$source"; then
      echo "--samples 1"
    else
      echo # a plain program, without options
    fi
    ;;
  *) [ -z "$lines" ] || printf '%s\n' "$lines" ;;
esac
true
