# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by the other scripts: colours when a person is looking (NO_COLOR unset, a terminal), a clock in
# milliseconds that works in old shells, and commands that take too long.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' green='' red='' dim='' plain=''
fi

now_ms() {
  if [ -n "${EPOCHREALTIME:-}" ]; then
    local now=${EPOCHREALTIME/[.,]/}
    echo "${now%???}"
  else
    echo "$((SECONDS * 1000))"
  fi
}

# since START_MS -> "12.3 s"
since() {
  local tenths=$((($(now_ms) - $1 + 50) / 100))
  echo "$((tenths / 10)).$((tenths % 10)) s"
}

# As the Makefile counts them.
cores() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

# limited SECONDS COMMAND...: runs it without input; status 124 when it was stopped for taking longer.
# timeout makes a process group of its own, which Ctrl-C does not reach. So this shell waits for it, and on
# Ctrl-C ends both.
limited() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null 2>&1; then set -- timeout -k 5 "$seconds" "$@"; fi
  stop_on_interrupt
  "$@" </dev/null &
  wait $!
}
# From now on Ctrl-C also ends what this shell has in the background.
stop_on_interrupt() {
  # shellcheck disable=SC2046  # a word for each job
  trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
}

# The name of the signal in an exit status above 128, or nothing.
signal_in() {
  if [ "$1" -gt 128 ] && [ "$1" -lt 160 ]; then echo "SIG$(kill -l "$(($1 - 128))")"; fi
}
