#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the verbs: every Makefile line "verb: ... ## text", under its "##@ Group".
#
#   help.sh [--verbs] MAKEFILE        --verbs: their names and nothing else
set -u
if [ "$1" = --verbs ]; then exec sed -n 's/^\([a-z_-]*\):.*## .*/\1/p' "$2"; fi
. "$(dirname "$0")/terminal.sh"

echo "${bold}make VERB [CH=05] [BACKEND=gpu|cpu] [ARGS=\"...\"]${plain}"
awk -v bold="$bold" -v plain="$plain" '
  /^##@ / { printf "\n%s%s%s\n", bold, substr($0, 5), plain }
  /^[a-z_-]+:.*## / {
    verb = $0; sub(/:.*/, "", verb)
    text = $0; sub(/.*## */, "", text)
    printf "  %-12s %s\n", verb, text
  }' "$1"
cat <<END

CH=05        one chapter (5, 05 or 05_name); without it, all of them; make CH=05 alone runs it
BACKEND=cpu  run without a GPU; without it, the GPU when nvcc and a device are there
ARGS="..."   options of the program, as words of the shell; make run CH=05 ARGS=--help lists them; N=1Mi is --n 1Mi
SCHEDULE=reverse  another order of threads, without a GPU: forward, reverse or random:SEED
ARCH=sm_90   what nvcc compiles for      V=1  show whole commands

Start with: make run CH=00
END
