#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes work/NAME.cu, a whole CUDA program to start from: new.sh NAME [EDITOR]
#
# EDITOR vscode: also .vscode/launch.json, with which the editor's debugger starts the program, unless there is one.
set -u
. "$(dirname "$(dirname "$0")")/run/terminal.sh"
stop() { echo "$1" >&2; exit 2; }

name=${1%.cu}
[ -n "$name" ] || stop "NAME=: what is the program called? e.g. make new NAME=hello"
case $name in
  *[!A-Za-z0-9_-]* | [!A-Za-z]*) stop "NAME=$name: letters, digits, _ and - are allowed, and it begins with a letter" ;;
esac
case ${2:-} in
  '' | vscode) ;;
  *) stop "EDITOR=$2: vscode is what make new writes a debugger's settings for" ;;
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

[ "${2:-}" = vscode ] || exit 0
settings=.vscode/launch.json
echo
if [ -e $settings ]; then
  echo "$settings is there already; it stays as it is. The program will be build/cpu/own/$name, or build/gpu/own/$name"
  exit 0
fi
mkdir -p .vscode || exit 2
sed "s/NAME/$name/g" "$(dirname "$0")/launch.json" >$settings.$$ && mv $settings.$$ $settings || exit 2
cat <<TEXT
$bold$settings$plain: for the debuggers of C/C++ and of Nsight in VS Code, which start what was built before

  make build FILE=$file BACKEND=cpu RACES=0
  make build FILE=$file BACKEND=gpu
TEXT
