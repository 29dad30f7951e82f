#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the tutorial needs with the system's own package manager, when that can be done
# without a question: as root, or with sudo that asks for no password. Otherwise prints the command.
#
#   install.sh [--how] THING...
# THING: base (of a bare container) compiler clang catch2 sanitizers python bubblewrap matplotlib clang-format shellcheck node npm or chromium.
#   --how prints the command and installs nothing.
set -u

usage() { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }

find_manager() {
  local candidate
  for candidate in apt-get dnf pacman zypper brew; do
    if command -v "$candidate" >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
}

# The package that holds a thing; empty when another package brings it.
package() {
  case "$1:$2" in
    *:base) echo ca-certificates git make ;;
    apt-get:compiler | brew:compiler) [ "$1" = brew ] && echo gcc || echo g++ ;;
    dnf:compiler | zypper:compiler) echo gcc-c++ ;;
    pacman:compiler) echo gcc ;;
    dnf:catch2) echo catch-devel ;;
    zypper:catch2) echo Catch2-devel ;;
    *:catch2) echo catch2 ;;
    dnf:sanitizers) echo libasan libubsan libtsan ;;
    *:sanitizers) ;;
    pacman:python) echo python ;;
    *:python) echo python3 ;;
    brew:bubblewrap) ;; # for Linux
    *:bubblewrap) echo bubblewrap ;;
    pacman:matplotlib | brew:matplotlib) echo python-matplotlib ;;
    *:matplotlib) echo python3-matplotlib ;;
    dnf:clang-format) echo clang-tools-extra ;;
    pacman:clang-format | zypper:clang-format) echo clang ;;
    *:clang-format) echo clang-format ;;
    *:clang) echo clang ;;
    dnf:shellcheck | zypper:shellcheck) echo ShellCheck ;;
    *:shellcheck) echo shellcheck ;;
    apt-get:node | dnf:node | pacman:node | zypper:node) echo nodejs ;;
    *:node) echo node ;;
    brew:npm) ;;
    *:npm) echo npm ;;
    apt-get:chromium) grep -qs '^ID=ubuntu' /etc/os-release && echo chromium-browser || echo chromium ;;
    *:chromium) echo chromium ;;
    *) return 1 ;;
  esac
}

command_line() {
  case "$1" in
    apt-get) echo "apt-get install -y" ;;
    dnf) echo "dnf install -y" ;;
    pacman) echo "pacman -S --noconfirm --needed" ;;
    zypper) echo "zypper --non-interactive install" ;;
    brew) echo "brew install" ;;
  esac
}

how_only=0
if [ "${1:-}" = --how ]; then
  how_only=1
  shift
fi
[ $# -gt 0 ] || usage

manager=$(find_manager)
if [ -z "$manager" ]; then
  echo "no package manager known here (apt-get, dnf, pacman, zypper, brew): install by hand: $*"
  [ $how_only -eq 1 ] && exit 0 || exit 1
fi
packages=()
for thing in "$@"; do
  names=$(package "$manager" "$thing") || { echo "install.sh: $thing: unknown" >&2; exit 2; }
  # shellcheck disable=SC2206  # several names are several packages
  packages+=($names)
done
[ ${#packages[@]} -gt 0 ] || exit 0
install="$(command_line "$manager") ${packages[*]}"

as_root=""
if [ "$manager" != brew ] && [ "$(id -u)" -ne 0 ]; then as_root="sudo "; fi
hint=$as_root$install
if [ $how_only -eq 1 ]; then
  echo "$hint"
  exit 0
fi

if [ -n "$as_root" ] && ! sudo -n true >/dev/null 2>&1; then
  echo "$hint"
  exit 1
fi
if [ "$manager" = apt-get ]; then
  as_root="${as_root}env DEBIAN_FRONTEND=noninteractive "
  install="$install -qq --no-install-recommends"
fi

log=$(mktemp "${TMPDIR:-/tmp}/install.XXXXXX") || exit 2
trap 'rm -f "$log"' EXIT
attempt() {
  # shellcheck disable=SC2086  # the command is words by intent
  $as_root "$@" >"$log" 2>&1 </dev/null
}

echo "  installing ${packages[*]}" >&2
# shellcheck disable=SC2086
attempt $install && exit
# A fresh machine has no package lists yet.
# shellcheck disable=SC2086
if [ "$manager" = apt-get ] && attempt apt-get update -qq && attempt $install; then exit; fi
tail -5 "$log" >&2
echo "$hint"
exit 1
