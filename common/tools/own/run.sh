#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a program of one's own. Its exit status becomes this script's.
#
#   run.sh VARIANT PROGRAM [OPTION...]
#
# VARIANT cpu-races: under the race detector. With SCHEDULE=all in the environment the program runs under five orders of
# threads, and what it prints is compared.
set -u
. "$(dirname "$(dirname "$0")")/run/terminal.sh"

variant=$1 program=$2
shift 2
orders=(forward reverse random:1 random:2 random:3)
if [ "${SCHEDULE:-}" != all ]; then
  if [ "$variant" = cpu-races ]; then export CUDA_CPU_RACES="${RACES:-1}"; fi
  exec "$program" "$@"
fi

out=build/own/orders
mkdir -p "$out" || exit 2
[ "$variant" != cpu-races ] || CUDA_CPU_RACES="${RACES:-1}" "$program" "$@" >/dev/null </dev/null # its report is all that counts
status=$?
export CUDA_CPU_RACES=0
# told ORDER: what it printed, and its status; in any order, since threads may print in any
told() { sort "$out/$1"; }
CUDA_CPU_SCHEDULE=${orders[0]} "$program" "$@" >"$out/again" 2>&1 </dev/null
echo "status $?" >>"$out/again"
differs=() same='output'
for order in "${orders[@]}"; do
  CUDA_CPU_SCHEDULE=$order "$program" "$@" >"$out/$order" 2>&1 </dev/null
  echo "status $?" >>"$out/$order"
  if [ "$order" = "${orders[0]}" ]; then
    sed '$d' "$out/$order"
    # A program that prints times, say, never prints the same twice.
    if [ "$(told "$order")" != "$(told again)" ]; then
      same='exit status (what it prints differs from run to run)'
      told() { tail -1 "$out/$1"; }
    fi
  fi
  [ "$(told "${orders[0]}")" = "$(told "$order")" ] || differs+=("$order")
done
echo
if [ ${#differs[@]} -eq 0 ]; then
  echo "SCHEDULE=all: the same $same under ${#orders[@]} orders of threads: ${orders[*]}"
  [ "$(tail -1 "$out/${orders[0]}")" = "status 0" ] || exit 1
  exit $status
fi
echo "SCHEDULE=all: differs under ${differs[*]}, from ${orders[0]}: what it computes depends on the order of its threads"
diff "$out/${orders[0]}" "$out/${differs[0]}" | grep '^[<>]' | head -6 | sed -e "s/^</  ${orders[0]}: /" -e "s/^>/  ${differs[0]}: /"
exit 1
