#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The labs' verbs: finds python3, or installs it if that needs no password, and starts __main__.py.
#
#   labs.sh lab|xray|hint|solution|reset|progress|grade|check-labs|page [NAME=VALUE...]
set -u
tools=$(dirname "$(dirname "$0")")

if ! python=$("$tools/setup/python.sh"); then
  install=$("$tools/setup/install.sh" python)
  if ! python=$("$tools/setup/python.sh"); then
    echo "make $1 needs python3 (3.8 or newer). Run: $install" >&2
    exit 2
  fi
fi
# Compiled once, beside everything else that is: parsing takes longer than most verbs. Nothing installed is used (-S).
unset PYTHONDONTWRITEBYTECODE
PYTHONPYCACHEPREFIX=build/labs/python exec "$python" -S "$tools/labs" "$@"
