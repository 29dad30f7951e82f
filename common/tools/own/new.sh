#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes work/NAME.cu, a whole CUDA program to start from: new.sh NAME
set -u
. "$(dirname "$(dirname "$0")")/run/terminal.sh"
stop() { echo "$1" >&2; exit 2; }

name=${1%.cu}
[ -n "$name" ] || stop "NAME=: what is the program called? e.g. make new NAME=hello"
case $name in
  *[!A-Za-z0-9_-]* | [!A-Za-z]*) stop "NAME=$name: letters, digits, _ and - are allowed, and it begins with a letter" ;;
esac
file=work/$name.cu
[ ! -e "$file" ] || stop "$file is there already; it stays as it is"
mkdir -p work || exit 2
sed "1d; s/NAME/$name/g" "$(dirname "$0")/new.cu" >"$file.$$" && mv "$file.$$" "$file" || exit 2
cat <<TEXT
$bold$file$plain: doubles n numbers, one thread each

  make run FILE=$file              build it and run it, with a GPU or without
  make run FILE=$file SCHEDULE=all without a GPU: also under other orders of threads
  make xray FILE=$file             what each line asks of memory
  nvcc $file -o $name              with the CUDA toolkit, without this repository
TEXT
