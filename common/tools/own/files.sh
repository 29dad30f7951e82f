# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by what serves programs of one's own: reads FILE=, DEFINE=, INCLUDE= and LIBS= as they were typed.

# words TEXT: the words of it into the array `words`, as a shell reads them: "a b.cu" is one.
words() {
  local word
  words=()
  [ -n "${1//[[:space:]]/}" ] || return 0
  while IFS= read -r -d '' word; do words+=("$word"); done < <(printf '%s' "$1" | xargs -n 1 printf '%s\0' 2>/dev/null)
}

# own_files: the sources in FILE into the array `files`; else prints what is wrong in one line and returns 1.
# A FILE that is a file is one, whatever its name; else there may be several, and quotes around a name.
own_files() {
  local file words=()
  if [ -f "${FILE:-}" ]; then files=("$FILE"); else words "${FILE:-}"; files=(${words[@]+"${words[@]}"}); fi
  if [ ${#files[@]} -eq 0 ]; then echo "FILE=: which program? e.g. FILE=work/hello.cu; make new NAME=hello makes one" && return 1; fi
  for file in "${files[@]}"; do
    if [ -d "$file" ]; then echo "FILE=$file: a folder; its .cu files are expected, e.g. FILE=\"$file/a.cu $file/b.cu\"" && return 1; fi
    if [ ! -f "$file" ]; then echo "FILE=$file: no such file" && return 1; fi
    if [ ! -r "$file" ]; then echo "FILE=$file: may not be read" && return 1; fi
    case $file in
      *.cu | *.cpp | *.cc | *.cxx) ;;
      *) echo "FILE=$file: .cu is expected, or .cpp, .cc, .cxx for host code beside it" && return 1 ;;
    esac
  done
}

# own_defines: the macros in DEFINE, NAME or NAME=value, into the array `defines`; else prints what is wrong in one line
# and returns 1. A value with a space has quotes around it.
own_defines() {
  local word words=()
  defines=()
  words "${DEFINE:-}"
  if [ ${#words[@]} -eq 0 ] && [ -n "${DEFINE//[[:space:]]/}" ]; then echo "DEFINE=$DEFINE: a quote is missing" && return 1; fi
  for word in ${words[@]+"${words[@]}"}; do
    if ! [[ ${word%%=*} =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]]; then
      echo "DEFINE=$word: NAME or NAME=value is expected, and a name has letters, digits and _, e.g. DEFINE=\"N=512 FAST\"" && return 1
    fi
    if [[ $word = __* ]]; then echo "DEFINE=$word: names that begin with __ are the compiler's own" && return 1; fi
    defines+=("$word")
  done
}

# own_name: how the program is called in build/: own/ and the first file's name, with _ for what is awkward there
own_name() {
  local name
  name=$(basename "${files[0]}")
  printf 'own/%s\n' "$(printf '%s' "${name%.*}" | LC_ALL=C tr -c 'A-Za-z0-9_.-' _)"
}
