#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which features of CUDA work: builds and runs every program of tests/compatibility/, and prints what came of it.
#
#   compatibility.sh BACKEND ARCH
#
# Without a GPU the table is compared with the stored one, common/cpu/results/compatibility.csv: the exit status is 1
# where a program that worked does not work any more. With one, every program must work: else it is wrong itself.
# From the environment: OUT, a file for the table; ONLY, names of programs, whose rows alone are then stored; CXX, NVCC
# and MAKE.
set -u
source=${COMPATIBILITY_PROGRAMS:-tests/compatibility} # a test has programs of its own
stored=${COMPATIBILITY_STORED:-common/cpu/results/compatibility.csv}

# quoted TEXT: as a field of a CSV
quoted() { printf '"%s"' "${1//\"/\"\"}"; }
# complaint FILE: the first line that says what is wrong, without its place
complaint() {
  local line
  line=$(grep -m 1 -iE '(error|not supported)' "$1" || tail -n 1 "$1")
  printf '%s' "$line" | sed -E -e 's/^[^ ]*:[0-9]+(:[0-9]+)?: //' -e 's/^(fatal )?error: //' | cut -c1-110
}

# one BACKEND ARCH PROGRAM: a row of the table
one() {
  local backend=$1 file=$source/$3.cu folder=build/compatibility/$1/$3 program result=works said='' feature flag
  local flags=() last=() built=0
  mkdir -p "$folder" || return 2
  feature=$(sed -n 's|^// FEATURE: ||p' "$file")
  while IFS= read -r flag; do
    case $flag in '') ;; -l*) last+=("$flag") ;; *) flags+=("$flag") ;; esac
  done < <(sed -n 's|^// NVCC: ||p' "$file" | tr ' ' '\n')
  if [ "$backend" = gpu ]; then
    program=$folder/program
    "${NVCC:-nvcc}" -std=c++17 -arch="$2" ${flags[@]+"${flags[@]}"} -o "$program" "$file" ${last[@]+"${last[@]}"} >"$folder/log" 2>&1 || built=1
  else
    program=build/cpu/own/$3
    "${MAKE:-make}" -s --no-print-directory BACKEND=cpu CXX="${CXX:-g++}" RACES=0 FILE="$file" build >"$folder/log" 2>&1 || built=1
  fi
  if [ $built -ne 0 ]; then
    result=refused said=$(complaint "$folder/log")
  elif ! timeout 60 "$program" >"$folder/out" 2>"$folder/log" </dev/null; then
    result=refused said=$(complaint "$folder/log")
    [ "$(tail -n 1 "$folder/out")" != differs ] || result=differs
  elif [ "$(tail -n 1 "$folder/out")" != ok ]; then
    result=differs said=$(tail -n 1 "$folder/out")
  fi
  printf '%s,%s,%s,%s,%s\n' "$3" "${feature%%: *}" "$result" "$(quoted "${feature#*: }")" "$(quoted "$said")" >"$folder/row"
}
if [ "$1" = --one ]; then
  shift
  one "$@"
  exit
fi

backend=$1 arch=$2
names=()
for file in "$source"/*.cu; do
  name=$(basename "$file" .cu)
  case " ${ONLY:-$name} " in *" $name "*) names+=("$name") ;; esac
done
[ ${#names[@]} -gt 0 ] || { echo "no such program in $source" >&2; exit 2; }
if [ "$backend" = gpu ]; then
  device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  device="$device with nvcc $("${NVCC:-nvcc}" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
else
  compiler=${CXX:-g++}
  device="CPU backend with ${compiler##* } $(${compiler##* } -dumpfullversion -dumpversion)"
  # What all of them share: not once for each.
  "${MAKE:-make}" -s --no-print-directory CXX="${CXX:-g++}" build/cpu/prepass build/cpu/libcudacpu.a build/cpu/graphs.o build/cpu/textures.o || exit 2
fi

# MAKEFLAGS: each program is a make of its own, told FILE=.
rm -rf "build/compatibility/$backend"
printf '%s\n' "${names[@]}" |
  env -u MAKEFLAGS -u FILE xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" "$0" --one "$backend" "$arch"

table=build/compatibility/$backend.csv
echo 'device,date,program,group,result,feature,said' >"$table"
for name in "${names[@]}"; do
  [ -s "build/compatibility/$backend/$name/row" ] || { echo "$name: nothing came of it" >&2; exit 2; }
  sed "s/^/${device//\//},$(date +%F),/" "build/compatibility/$backend/$name/row" >>"$table"
done
awk -F, 'NR > 1 {
  said = $0; sub(/.*","/, "", said); sub(/"$/, "", said); gsub(/""/, "\"", said)
  printf "  %-8s %-20s %s\n", $5, $3, said; count[$5]++
} END { printf "%d of %d work; %d refused, %d differ\n", count["works"], NR - 1, count["refused"], count["differs"] }' "$table"
if [ -n "${OUT:-}" ]; then
  # With ONLY, the rows of other programs stay.
  {
    head -n 1 "$table"
    {
      tail -n +2 "$table"
      [ -z "${ONLY:-}" ] || [ ! -f "$OUT" ] || awk -F, 'FNR == 1 { next } FILENAME == ARGV[1] { new[$3] = 1; next } !new[$3]' "$table" "$OUT"
    } | LC_ALL=C sort -t, -k4,4 -k3,3
  } >"$OUT.$$" && mv -f "$OUT.$$" "$OUT" || exit 2
fi

# Column 3 is the program's name, column 5 what came of it.
worse=$(awk -F, -v backend="$backend" '
  FNR == 1 { next }
  FILENAME == ARGV[1] { if (backend == "cpu") was[$3] = $5; next }
  { if ($5 != "works" && (backend == "gpu" || was[$3] == "works")) print $3 }' "$([ -f "$stored" ] && echo "$stored" || echo /dev/null)" "$table")
[ -n "$worse" ] || exit 0
worse=$(printf '%s' "$worse" | tr '\n' ' ')
if [ "$backend" = gpu ]; then
  echo "do not work on this GPU, so they are wrong themselves: $worse" >&2
else
  echo "worked when $stored was written, and do not any more: $worse" >&2
fi
exit 1
