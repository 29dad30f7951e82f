#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages for a class to print, into build/handout/: predictions, summary and questions for everybody, a key for the
# teacher (handout.mjs).
#
#   handout.sh CHAPTER...     as in 05_shared_tree_reduction
# HTML needs Node.js, and what slides/package-lock.json names; where Chromium is, PDF is made as well.
set -u
tools=$(dirname "$(dirname "$0")")
needs="handouts need"
# shellcheck source=../setup/node.sh
. "$tools/setup/node.sh"

out=build/handout
packages=build/slides/packages
for chapter in "$@"; do
  [ -f "chapters/$chapter/README.md" ] || stop 2 "chapters/$chapter/: no such chapter"
done
[ $# -gt 0 ] || stop 2 "handout.sh: which chapter?"

need_node
chromium=$("$tools/setup/chromium.sh") || chromium=
[ -n "$chromium" ] || [ -z "${CHROME_PATH:-}" ] || stop 2 "CHROME_PATH=$CHROME_PATH: no such program"
export CHROME_PATH=$chromium
log=$(mktemp "${TMPDIR:-/tmp}/handout.XXXXXX") || exit 2
trap 'rm -f "$log"' EXIT
mkdir -p "$packages"
need_packages slides "$packages" "$log"

rm -rf "$out.partial"
node "$tools/slides/handout.mjs" "$packages" "$out.partial" "$@" || { rm -rf "$out.partial"; exit 1; }
mkdir -p "$out"
for chapter in "$@"; do rm -f "$out/${chapter%%_*}_"*; done
mv "$out.partial"/* "$out/"
rmdir "$out.partial"
echo "  $out/: predictions, summary, questions and key of ${*/_*/}"
if [ -z "$chromium" ]; then echo "  as HTML only: Chromium is not here. Run: $("$tools/setup/install.sh" --how chromium)"; fi
