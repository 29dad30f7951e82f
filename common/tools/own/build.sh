#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles a program of one's own, of one or several files that may lie anywhere.
#
#   build.sh TARGET LIBRARY FLAG... -- LINK_FLAG...     for the CPU backend; the flags begin with the compiler
#   build.sh TARGET '' NVCC FLAG... --                  by nvcc
#
# From the environment, as they were typed: FILE, the sources; DEFINE, macros (N=512); INCLUDE, folders of
# headers; LIBS, libraries (-lm).
# And for the CPU backend: CUBLAS, the library for programs that include <cublas_v2.h>, and MAKE, to build it.
# For the CPU backend each source goes through the pre-pass, and so does each header that it includes from its own
# folder or from INCLUDE. The copies lie in build/own/src*/, below the path of the original.
set -u
. "$(dirname "$0")/files.sh"
. "$(dirname "$0")/thrust.sh"
. "$(dirname "$(dirname "$0")")/run/terminal.sh"

target=$1 library=$2
shift 2
compile=() link=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do compile+=("$1") && shift; done
shift
link=("$@")
tool=() # "ccache g++" are two words
for word in "${compile[@]}"; do case $word in -*) break ;; *) tool+=("$word") ;; esac; done
stop() { echo "$1" >&2; exit 2; }

files=() words=()
own_files || exit 2
defines=()
own_defines || exit 2
words "${INCLUDE:-}"
includes=(${words[@]+"${words[@]}"})
for folder in ${includes[@]+"${includes[@]}"}; do [ -d "$folder" ] || stop "INCLUDE=$folder: no such folder"; done
words "${LIBS:-}"
libraries=()
for word in ${words[@]+"${words[@]}"}; do
  # Without a GPU the backend's own takes its place.
  [ -n "$library" ] && [[ $word = -lcublas || $word = -lcublasLt ]] || libraries+=("$word")
done
folder=$target.parts
mkdir -p "$folder" || exit 2

# Everything that decides what comes out; when it is as it was, nothing is compiled.
for define in ${defines[@]+"${defines[@]}"}; do compile+=("-D$define"); done
for source in "${files[@]}"; do compile+=("-I$(dirname "$source")"); done
for include in ${includes[@]+"${includes[@]}"}; do compile+=("-I$include"); done
printf '%s\n' "${compile[@]}" -- ${link[@]+"${link[@]}"} -- "${files[@]}" -- ${libraries[@]+"${libraries[@]}"} >"$folder/now"
same=yes
cmp -s "$folder/now" "$folder/then" || same=no
rm -f "$folder/then"

# newer FILE...: whether any of them is newer than the object, or is gone
newer() {
  local file object=$1
  shift
  for file; do [ -e "$file" ] && [ ! "$file" -nt "$object" ] || return 0; done
  return 1
}
# The files that an object was made of.
made_of() { sed -e 's/^[^:]*://' -e 's/\\$//' "$1" | xargs -n 1 2>/dev/null; }

if [ -z "$library" ]; then
  objects=()
  cublas=no
  for source in "${files[@]}"; do
    object=$folder/${#objects[@]}.o
    objects+=("$object")
    parts=()
    [ ! -f "$object.d" ] || while IFS= read -r part; do parts+=("$part"); done < <(made_of "$object.d")
    if [ $same = no ] || newer "$object" "$source" ${parts[@]+"${parts[@]}"}; then
      printf '  %-5s %s\n' nvcc "$source"
      "${compile[@]}" -MD -MF "$object.d" -c -o "$object" "$source" || exit 1
    fi
    ! grep -q 'cublas\(_v2\|Lt\).h' "$object.d" || cublas=yes
  done
  [ $cublas = no ] || libraries+=(-lcublas)
else
  mirror=build/own/src
  shared_names=()
  for define in ${defines[@]+"${defines[@]}"}; do
    [ "${define#*=}" != __shared__ ] || shared_names+=("--shared=${define%%=*}")
  done
  # What the pre-pass makes of a file depends on the names of __shared__, and on where headers are found.
  told=(${shared_names[@]+"${shared_names[@]}"} ${includes[@]+"${includes[@]}"})
  [ ${#told[@]} -eq 0 ] || mirror+=+$(printf '%s\n' "${told[@]}" | cksum | cut -d ' ' -f 1)
  # where FILE: its copy
  where() { printf '%s%s/%s' "$mirror" "$(cd "$(dirname "$1")" && pwd -P)" "$(basename "$1")"; }
  seen=()
  # copy FILE: through the pre-pass, and all that it includes from its own folder and from INCLUDE
  copy() {
    local file=$1 to other name from
    to=$(where "$file")
    for other in ${seen[@]+"${seen[@]}"}; do [ "$other" != "$to" ] || return 0; done
    seen+=("$to")
    if [ ! -e "$to" ] || [ "$file" -nt "$to" ] || [ build/cpu/prepass -nt "$to" ]; then
      build/cpu/prepass ${shared_names[@]+"${shared_names[@]}"} "$file" "$to" ${includes[@]+"${includes[@]}"} || exit 1
    fi
    while IFS= read -r name; do
      case $name in thrust/* | cub/*) thrust_header "$name" ;; cuda/std/*) standard_header "$name" ;; esac
      for from in "$(dirname "$file")" ${includes[@]+"${includes[@]}"}; do
        if [ -f "$from/$name" ]; then
          copy "${from#./}/$name"
          break
        fi
      done
    done < <(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]\([^">]*\)[">].*/\1/p' "$file")
  }
  folders=()
  for include in ${includes[@]+"${includes[@]}"}; do folders+=("-I$mirror$(cd "$include" && pwd -P)"); done
  objects=() cublas='' thrust_flags=()
  for source in "${files[@]}"; do
    seen=()
    copy "$source"
    ! grep -qs '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]cublas\(_v2\|Lt\).h' "${seen[@]}" || cublas=yes
    object=$folder/${#objects[@]}.o
    objects+=("$object")
    if [ $same = yes ] && ! newer "$object" "${seen[@]}" "$library"; then continue; fi
    printf '  %-5s %s\n' c++ "$source"
    language=(-x c++)
    case $source in *.cu) language=(-D__CUDACC__ -D__NVCC__ -include cuda_runtime.h -x c++) ;; esac
    "${tool[@]}" ${folders[@]+"${folders[@]}"} "${compile[@]:${#tool[@]}}" -idirafter build/own/standard ${thrust_flags[@]+"${thrust_flags[@]}"} "${language[@]}" -c -o "$object" "$(where "$source")" || exit 1
  done
  # Graphs and textures are compiled for programs that use them; X-ray does not look into them. This make must not be
  # told FILE=.
  parts=()
  missing=$(nm -u "${objects[@]}" 2>/dev/null | grep -oE 'cudaGraph|Captur|Texture|Surface|cuda[A-Za-z0-9]*(Array|3D)|fetch_(texel|sample|gathered)|surface_address')
  case $missing in '') ;; *cudaGraph* | *Captur*) parts=(graphs textures) ;; *) parts=(textures) ;; esac
  for part in ${parts[@]+"${parts[@]}"}; do
    part=${library%/*}/$part.o
    part=${part/cpu-xray/cpu}
    objects+=("$part")
    env -u MAKEFLAGS -u FILE -u DEFINE -u INCLUDE -u LIBS make -s CXX="${tool[*]}" "$part" || exit 1
  done
fi

backend=(${library:+"$library"})
if [ -n "$library" ] && [ -n "$cublas" ]; then
  backend=("$CUBLAS" "$library")
  # This make was told FILE=, which makes programs and not libraries.
  env -u MAKEFLAGS -u FILE -u DEFINE -u INCLUDE -u LIBS "$MAKE" -s --no-print-directory CXX="${tool[*]}" "$CUBLAS" || exit 1
fi
newest=no
if [ $same = no ] || newer "$target" "${objects[@]}" ${backend[@]+"${backend[@]}"}; then newest=yes; fi
if [ $newest = yes ]; then
  if [ -z "$library" ]; then
    "${tool[@]}" "${link[@]}" -o "$target.$$" "${objects[@]}" ${libraries[@]+"${libraries[@]}"} || exit 1
  else
    "${tool[@]}" -pthread ${link[@]+"${link[@]}"} -o "$target.$$" "${objects[@]}" "${backend[@]}" -ldl \
      ${libraries[@]+"${libraries[@]}"} || exit 1
  fi
  mv -f "$target.$$" "$target" || exit 1
fi
mv -f "$folder/now" "$folder/then"
