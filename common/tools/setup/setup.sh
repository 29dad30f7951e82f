#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing for running, testing and writing, each through install.sh. The CUDA toolkit
# and the driver are not touched.
#
#   setup.sh CXX [CATCH2_DIR]
set -u
tools=$(dirname "$(dirname "$0")")

cxx=$1
catch2_dir=${2:-}
status=0
missing=()  # of what chapters, tests and labs need

# need THING COMMAND...: installs THING unless COMMAND succeeds
need() {
  local thing=$1 hint
  shift
  if "$@" >/dev/null 2>&1; then
    echo "ok    $thing"
    return
  fi
  if ! hint=$("$tools/setup/install.sh" "$thing"); then
    echo "FAIL  $thing; run: $hint"
    case $thing in compiler | catch2 | python) missing+=("$thing") ;; esac
  elif "$@" >/dev/null 2>&1; then
    echo "ok    $thing, now installed"
    return
  else
    echo "FAIL  $thing: its package is installed, but this fails: $*"
  fi
  status=1
}
# shellcheck disable=SC2317  # called through need
catch2_is_there() { case $(INSTALL=no "$tools/setup/catch2.sh" "$cxx" "$catch2_dir") in ok*) ;; *) return 1 ;; esac; }
# shellcheck disable=SC2317
has_sanitizers() { echo 'int main() {}' | "$cxx" -fsanitize=address,undefined -x c++ - -o /dev/null; }

need compiler command -v "$cxx"
need catch2 catch2_is_there
if [ -n "$("$tools/setup/install.sh" --how sanitizers)" ]; then need sanitizers has_sanitizers; fi
need python "$tools/setup/python.sh"
# Grading works without it, with less kept out.
if [ "$(uname -s)" = Linux ] && ! command -v bwrap >/dev/null 2>&1; then
  if hint=$("$tools/setup/install.sh" bubblewrap); then echo "ok    bubblewrap, now installed"; else echo "--    bubblewrap, for make grade; run: $hint"; fi
elif [ "$(uname -s)" = Linux ]; then
  echo "ok    bubblewrap"
fi
need matplotlib "$tools/setup/python.sh" --matplotlib
need clang-format command -v clang-format
need shellcheck command -v shellcheck
if [ ${#missing[@]} -gt 0 ]; then
  echo "What chapters, tests and labs need, in one command: $("$tools/setup/install.sh" --how "${missing[@]}")"
fi
exit $status
