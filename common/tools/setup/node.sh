# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Sourced by slides.sh and site.sh: what both need from outside, installed where it is missing. Each function
# succeeds, or ends the script with one line that says what to do. $tools is common/tools; $needs says in that
# line who needs it, "slides need".

oldest_node=18

stop() { # STATUS LINE
  echo "$2" >&2
  exit "$1"
}

need_node() {
  local program hint version
  for program in node npm; do
    command -v $program >/dev/null 2>&1 && continue
    hint=$("$tools/setup/install.sh" $program) || stop 2 "$needs $program. Run: $hint"
    command -v $program >/dev/null 2>&1 || stop 2 "$needs $program; the package $program was installed and brings none"
  done
  version=$(node --version)
  version=${version#v}
  [ "${version%%.*}" -ge $oldest_node ] 2>/dev/null ||
    stop 2 "$needs Node.js $oldest_node or newer, node is $version: see https://nodejs.org"
}

# need_packages FROM FOLDER LOG: FOLDER/node_modules is what FROM/package-lock.json names
need_packages() {
  cmp -s "$1/package-lock.json" "$2/installed.json" && return
  echo "  npm   $1/package-lock.json: once"
  mkdir -p "$2" && rm -f "$2/installed.json"
  cp "$1/package.json" "$1/package-lock.json" "$2/"
  (cd "$2" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$3" 2>&1 ||
    { tail -15 "$3" >&2; stop 1 "npm could not install what $1/package-lock.json names"; }
  cp "$1/package-lock.json" "$2/installed.json"
}

# need_chromium WHO: sets $chromium; WHO is $needs of this one, "slides as pdf need"
need_chromium() {
  local hint
  chromium=$("$tools/setup/chromium.sh") && return
  [ -z "${CHROME_PATH:-}" ] || stop 2 "CHROME_PATH=$CHROME_PATH: no such program"
  hint=$("$tools/setup/install.sh" chromium) || stop 2 "$1 Chromium. Run: $hint"
  chromium=$("$tools/setup/chromium.sh") || stop 2 "$1 Chromium; the package was installed and brings none"
}
# Chromium refuses to run as root inside its sandbox.
[ "$(id -u)" -ne 0 ] || export CHROME_NO_SANDBOX=1

not_looked_at() { echo "  not looked at: Chromium is not here. Run: $("$tools/setup/install.sh" --how chromium)"; }
