#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the tutorial needs with the system's own package manager, when that can be done
# without a question: as root, or with sudo that asks for no password. Otherwise prints the command and fails.
#
#   install.sh [--how] THING...
# THING: base (of a bare container) compiler clang catch2 sanitizers python bubblewrap matplotlib clang-format shellcheck node npm or chromium.
#   --how prints the command and installs nothing.
set -u

usage() { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }

# package MANAGER THING: the packages that hold it, nothing where another package brings it
package() {
  local thing packages elsewhere
  while read -r thing packages elsewhere; do
    [ "$thing" = "$2" ] || continue
    case " $elsewhere" in *" $1="*) packages=${elsewhere##*"$1="} ;; esac
    packages=${packages%% *}
    if [ "$1:$thing" = apt-get:chromium ] && grep -qs '^ID=ubuntu' /etc/os-release; then packages=chromium-browser; fi
    [ "$packages" = - ] || echo "${packages//,/ }"
    return
  done <<'END'
base          ca-certificates,git,make
compiler      g++                 dnf=gcc-c++ zypper=gcc-c++ pacman=gcc brew=gcc
clang         clang
catch2        catch2              dnf=catch-devel zypper=Catch2-devel
sanitizers    -                   dnf=libasan,libubsan
python        python3             pacman=python
bubblewrap    bubblewrap
matplotlib    python3-matplotlib  pacman=python-matplotlib brew=python-matplotlib
clang-format  clang-format        dnf=clang-tools-extra pacman=clang zypper=clang
shellcheck    shellcheck          dnf=ShellCheck zypper=ShellCheck
node          nodejs              brew=node
npm           npm                 brew=-
chromium      chromium
END
  return 1
}

how_only=0
if [ "${1:-}" = --how ]; then
  how_only=1
  shift
fi
[ $# -gt 0 ] || usage

manager='' install=''
while read -r candidate how; do
  if command -v "$candidate" >/dev/null 2>&1; then
    manager=$candidate install="$candidate $how"
    break
  fi
done <<'END'
apt-get  install -y
dnf      install -y
pacman   -S --noconfirm --needed
zypper   --non-interactive install
brew     install
END
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
install="$install ${packages[*]}"

as_root=""
if [ "$manager" != brew ] && [ "$(id -u)" -ne 0 ]; then as_root="sudo "; fi
# The command that a person is told. Where apt-get has no lists yet, it would do nothing by itself.
hint=$as_root$install
if [ "$manager" = apt-get ] && ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
  hint="${as_root}apt-get update && $hint"
fi
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
  $as_root "$@" >>"$log" 2>&1 </dev/null
}
# Whether all of them are there, whatever the command said that installs them: without lists apt-get takes g++ for a
# pattern, and reports success.
are_there() {
  local package
  for package in "${packages[@]}"; do
    case $manager in
      apt-get) [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>&1)" = installed ] ;;
      dnf | zypper) rpm -q --whatprovides "$package" ;;
      pacman) pacman -T "$package" ;;
      brew) brew list "$package" ;;
    esac >/dev/null 2>&1 || return 1
  done
}

echo "  installing ${packages[*]}" >&2
# shellcheck disable=SC2086
attempt $install && are_there && exit
# A fresh machine has no package lists yet.
# shellcheck disable=SC2086
if [ "$manager" = apt-get ] && attempt apt-get update -qq && attempt $install && are_there; then exit; fi
tail -5 "$log" >&2
echo "$hint"
exit 1
