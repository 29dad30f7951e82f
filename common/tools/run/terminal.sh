# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced by the other scripts: colours when a person is looking (NO_COLOR unset, a terminal), and names of signals.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' green='' red='' dim='' plain=''
fi

# The name of the signal in an exit status above 128, or nothing.
signal_in() {
  if [ "$1" -gt 128 ] && [ "$1" -lt 160 ]; then echo "SIG$(kill -l "$(($1 - 128))")"; fi
}
