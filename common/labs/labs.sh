#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The labs' verbs, by python3.
#
#   labs.sh lab|xray|hint|solution|reset|progress|grade|check-labs|page|starters [NAME=VALUE...]
exec "$(dirname "$0")/../tools/setup/python.sh" --run labs "$@"
