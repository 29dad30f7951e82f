#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Finds Catch2 (the v2 single header or v3), installs it if it is missing, and prints in one line
# "ok FLAGS..." (-I for the compiler; -L, -l, .o or .a for the linker) or "error WHAT TO DO".
#
#   catch2.sh COMPILER [DIR]
# DIR (the Makefile's CATCH2_DIR): a folder with catch.hpp, with catch2/, with catch_amalgamated.hpp
# and .cpp, or an installation prefix. INSTALL=no in the environment: look only.
set -u

cxx=$1
dir=${2:-}

# Which Catch2 the compiler sees with these flags: 3, 2, or nothing.
version_seen() {
  printf '%s\n' '#if __has_include(<catch2/catch_all.hpp>)' 3 \
    '#elif __has_include(<catch2/catch.hpp>)' 2 '#endif' |
    $cxx "$@" -std=c++17 -E -P -x c++ - 2>/dev/null | tr -d '[:space:]'
}

links() {
  echo 'int main() {}' | $cxx -x c++ - -x none "$@" -o "$scratch/probe" 2>/dev/null
}

# forward HEADER FILE: FILE includes HEADER; touched only when that is new
forward() {
  mkdir -p "$(dirname "$2")"
  echo "#include \"$1\"" | cmp -s - "$2" || echo "#include \"$1\"" >"$2"
}

in_directory() {
  local library
  if [ ! -d "$dir" ]; then
    echo "error CATCH2_DIR=$dir: no such folder"
    return
  fi
  dir=$(cd "$dir" && pwd)
  if [ -f "$dir/catch_amalgamated.hpp" ] && [ -f "$dir/catch_amalgamated.cpp" ]; then
    forward "$dir/catch_amalgamated.hpp" build/catch2/catch2/catch_all.hpp
    if [ ! build/catch2/amalgamated.o -nt "$dir/catch_amalgamated.cpp" ]; then
      echo "  c++   $dir/catch_amalgamated.cpp" >&2
      if ! $cxx -std=c++17 -O1 -DCATCH_AMALGAMATED_CUSTOM_MAIN -c "$dir/catch_amalgamated.cpp" \
        -o build/catch2/amalgamated.o; then
        echo "error CATCH2_DIR=$dir: catch_amalgamated.cpp does not compile"
        return
      fi
    fi
    echo "ok -Ibuild/catch2 build/catch2/amalgamated.o"
  elif [ -f "$dir/catch.hpp" ]; then
    rm -f build/catch2/catch2/catch_all.hpp
    forward "$dir/catch.hpp" build/catch2/catch2/catch.hpp
    echo "ok -Ibuild/catch2"
  elif [ -f "$dir/catch2/catch.hpp" ]; then
    echo "ok -I$dir"
  elif [ -f "$dir/include/catch2/catch_all.hpp" ]; then
    for library in "$dir"/lib/libCatch2.* "$dir"/lib64/libCatch2.* "$dir"/lib/*/libCatch2.*; do
      [ -e "$library" ] && echo "ok -I$dir/include $library" && return
    done
    echo "error CATCH2_DIR=$dir: include/catch2 is there, but no lib/libCatch2.a"
  elif [ -f "$dir/include/catch2/catch.hpp" ]; then
    echo "ok -I$dir/include"
  else
    echo "error CATCH2_DIR=$dir: neither catch.hpp, catch2/, catch_amalgamated.hpp nor include/catch2/ is in it"
  fi
}

installed() {
  local prefix include lib
  for prefix in '' /usr/local /opt/homebrew; do
    include=${prefix:+-I$prefix/include} lib=${prefix:+-L$prefix/lib}
    # shellcheck disable=SC2086  # a flag each, or none
    case $(version_seen $include) in
      3) links $lib -lCatch2 && echo ok $include $lib -lCatch2 && return ;;
      2) echo ok $include && return ;;
    esac
  done
  return 1
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/catch2.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
if [ -n "$dir" ]; then
  in_directory
  exit
fi
installed && exit
if [ "${INSTALL:-yes}" = no ]; then
  echo "error Catch2 is missing"
  exit
fi
if ! command=$("$(dirname "$0")/install.sh" catch2); then
  echo "error the tests need Catch2. Run: $command   (or make test CATCH2_DIR=FOLDER for one of your own)"
elif ! installed; then
  echo "error the tests need Catch2: its package is installed, but $cxx does not find it; make test CATCH2_DIR=FOLDER says where it is"
fi
