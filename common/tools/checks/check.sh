#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the text of this repository. Prints one line per check, with its complaints below it. A missing tool
# skips only its own check.
set -u
tools=$(dirname "$(dirname "$0")")
. "$tools/run/terminal.sh"

FORMAT_VERSION=14 # clang-format's releases differ; the sources are formatted with this one
status=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/check.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT

# check NAME COMMAND...: ok, or FAIL with what the command printed
check() {
  local name=$1
  shift
  if "$@" >"$scratch/out" 2>&1; then
    printf '  %sok%s    %s\n' "$green" "$plain" "$name"
  else
    printf '  %sFAIL%s  %s\n' "$red" "$plain" "$name"
    status=1
  fi
  head -40 "$scratch/out" | sed 's/^/        /'
  [ "$(wc -l <"$scratch/out")" -le 40 ] || echo "        ..."
}
skip() { printf '  %s--%s    %s\n' "$dim" "$plain" "$1"; }

# files PATTERN...: what git tracks or would track
files() {
  if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done
  else
    local pattern
    for pattern in "$@"; do find . -path ./build -prune -o -path ./work -prune -o -name "${pattern##*/}" -type f -print; done |
      sed 's#^\./##'
  fi | sort -u
}

format=clang-format
command -v clang-format-$FORMAT_VERSION >/dev/null 2>&1 && format=clang-format-$FORMAT_VERSION
if ! command -v $format >/dev/null 2>&1; then
  skip "formatting: clang-format is not here; run: $("$tools/setup/install.sh" --how clang-format)"
else
  version=$($format --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
  if [ "$version" = $FORMAT_VERSION ]; then
    # shellcheck disable=SC2046  # file names without blanks
    check "formatting" $format --dry-run -Werror $(files '*.cu' '*.cuh' '*.h' '*.hpp' '*.cpp')
  else
    skip "formatting: clang-format $version is here, the sources follow $FORMAT_VERSION"
  fi
fi

if ! command -v shellcheck >/dev/null 2>&1; then
  skip "shell scripts: shellcheck is not here; run: $("$tools/setup/install.sh" --how shellcheck)"
else
  scripts=$(files '*.sh' '.ci/run')
  # shellcheck disable=SC2086  # file names without blanks
  check "shell scripts" shellcheck -x -P SCRIPTDIR:SCRIPTDIR/.. $scripts
fi

if ! python=$("$tools/setup/python.sh"); then
  skip "text, notes, links: python3 is not here; run: $("$tools/setup/install.sh" --how python)"
else
  export PYTHONDONTWRITEBYTECODE=1
  check "blanks, licence lines, complete chapters, links" "$python" "$tools/.." tools.checks.check_text
  check "who includes whom" "$python" "$tools/.." tools.checks.rooms --check
  # shellcheck disable=SC2046  # file names without blanks
  check "mutants: every edit applies" "$python" "$tools/.." tools.checks.edits --check $(files '*.mutants')
  check "terms are explained before they are used" "$python" "$tools/.." tools.checks.terms
  check "notes quote the sources and results as they are" "$python" "$tools/.." tools.notes.notes --check
fi

if ! "$tools/setup/python.sh" --matplotlib >/dev/null; then
  skip "figures: matplotlib is not here; run: $("$tools/setup/install.sh" --how matplotlib)"
elif ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  skip "figures: Node.js is not here; run: $("$tools/setup/install.sh" --how npm)"
else
  check "figures as their scripts draw them" "$tools/figures/figures.sh" --check
fi

exit $status
