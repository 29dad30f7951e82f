#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Makefile as a user types it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

chapters=$(cd chapters && for c in [0-9][0-9]_*/; do
  c=${c%/}
  [ -f "$c/${c#*_}.cu" ] && echo "$c"
done)
first=$(echo "$chapters" | sed -n 2p) # the first that has options
number=${first%%_*}

# Two copies of what make needs: one to build in, and one without anything built.
home=$PWD
built=$scratch/built tree=$scratch/tree
own_tree "$built" "cpu/$first" "cpu/obj/chapters/$first"
mkdir -p "$tree"
cp -R Makefile chapters common tests "$tree/"
cd "$built" || exit 1

test_case "make alone prints every verb"
run make
expect_status 0
for verb in help list doctor setup build run test sanitize bench profile check notes figures slides site serve clean; do
  expect_output "  $verb "
done

test_case "make list names every chapter with its question"
run make list
expect_status 0
for chapter in $chapters; do expect_output "$chapter"; done

for bad in 42 000 abc ../x 05/ '05 06' % '*' 5x -1; do
  test_case "make run CH='$bad' lists the chapters there are and builds nothing"
  answers_in_a_line 2 "no such chapter" run make -C "$tree" --no-print-directory run CH="$bad"
  expect_output "$first"
  expect "no build folder" [ ! -e "$tree/build" ]
done

test_case "make run CH= asks which chapter and builds nothing"
answers_in_a_line 2 "$first" run make -C "$tree" --no-print-directory run CH=
expect "no build folder" [ ! -e "$tree/build" ]

test_case "without a verb CH= and FILE= run what they name, and EX= asks for a verb"
answers 0 "run_programs.sh build/cpu '$first'" run make -n BACKEND=cpu CH="$number"
answers_in_a_line 2 "no such chapter" run make CH=42
complains_in_a_line 2 "FILE=work/none.cu: no such file" run make FILE=work/none.cu BACKEND=cpu
answers_in_a_line 2 "which verb? make lab" run make CH="$number" EX=1

test_case "a chapter's number, with and without zeros, and its name mean the same"
run make -j1 -n build BACKEND=cpu CH="$first" V=1 # the first one says that the backend will be compiled
run make -j1 -n build BACKEND=cpu CH="$first" V=1
by_name=$output
expect_status 0
run make -j1 -n build BACKEND=cpu CH="$number" V=1
expect "the same commands for $number" [ "$output" = "$by_name" ]
run make -j1 -n build BACKEND=cpu CH="${number#0}" V=1
expect "the same commands for ${number#0}" [ "$output" = "$by_name" ]

test_case "a verb that does not exist gets one line with those that do"
answers_in_a_line 2 "'rum'" run make rum
expect_output "doctor"

test_case "a verb is one paragraph of the Makefile: with it make knows and prints the verb"
awk '/^clean:/ { print "needs.greet = backend\ngreet:  ## say hello\n\t@echo hello from $(CHOSEN_BACKEND)\n" } 1' \
  Makefile >"$tree/Makefile"
answers 0 "hello from cpu" run make -C "$tree" --no-print-directory greet BACKEND=cpu
run make -C "$tree" --no-print-directory
expect_output "  greet        say hello"
cp Makefile "$tree/Makefile"

test_case "an unknown backend gets one line"
answers_in_a_line 2 "auto, gpu or cpu" run make -C "$tree" --no-print-directory run BACKEND=tpu

test_case "BACKEND=gpu without nvcc says so in one line and builds nothing"
answers_in_a_line 2 "needs nvcc" run make -C "$tree" --no-print-directory run BACKEND=gpu NVCC=no-such-nvcc
expect_output "BACKEND=cpu"
expect "no build folder" [ ! -e "$tree/build" ]

test_case "the first line of a run says which backend, and why"
run make run BACKEND=cpu CH="$first" ARGS=--help
expect_status 0
expect "the backend in the first line" has "$(echo "$out" | head -1)" "backend cpu: as asked"

test_case "why it is the CPU backend is said once, where nobody asked for it"
fake_command nvidia-smi 'exit 9'
run with_fakes make -C "$tree" --no-print-directory -n progress
expect "the reason" has "$(echo "$out" | head -1)" "backend cpu: "
run with_fakes make -C "$tree" --no-print-directory -n progress
expect "the name alone" [ "$(echo "$out" | head -1)" = "backend cpu" ]
rm -r "$tree/build"

test_case "options in ARGS reach the program, and its failure becomes make's"
answers fails "no-such-option" run make run BACKEND=cpu CH="$first" ARGS="--no-such-option"

test_case "a new chapter folder is a new chapter"
mkdir -p "$tree/chapters/99_added"
printf '// SPDX-License-Identifier: MIT\n// Chapter 99: is it found?\nint main() {}\n' >"$tree/chapters/99_added/added.cu"
answers 0 "is it found?" run make -C "$tree" --no-print-directory list CH=99
rm -r "$tree/chapters/99_added"

test_case "a changed header rebuilds the programs that include it"
run make build BACKEND=cpu CH="$first"
expect_status 0
run make -j1 -n build BACKEND=cpu CH="$first" V=1
expect_no_output " -c -o"
run make -n -W common/options.cuh build BACKEND=cpu CH="$first" V=1
expect_output "$first/${first#*_}.cu.o"

test_case "a source of the backend that is gone since the last build is no error"
cp build/cpu/prepass.d build/cpu/prepass.d.kept
echo 'build/cpu/prepass: common/cpu/prepass/gone.cpp' >>build/cpu/prepass.d
run make -j1 -n build BACKEND=cpu CH="$first"
expect_status 0
mv build/cpu/prepass.d.kept build/cpu/prepass.d

test_case "make test without Catch2 and without a way to install it prints the command and fails"
all_but_managers "$scratch/bin"
# A compiler that sees no Catch2: nothing but its own headers.
printf '#!/bin/sh\nexec g++ -nostdinc "$@"\n' >"$scratch/bin/bare-g++"
chmod +x "$scratch/bin/bare-g++"
complains_in_a_line 2 "the tests need Catch2" run env PATH="$scratch/bin" make -C "$tree" --no-print-directory test BACKEND=cpu CXX=bare-g++
expect_output "CATCH2_DIR="
expect "no build folder" [ ! -e "$tree/build" ]

test_case "a CATCH2_DIR without Catch2 in it gets one line"
complains_in_a_line 2 "catch.hpp" run make -C "$tree" --no-print-directory test BACKEND=cpu CATCH2_DIR="$scratch"

test_case "make clean removes build/ and nothing else"
mkdir -p "$tree/build/cpu" "$tree/work"
echo mine >"$tree/work/mine.cu"
(cd "$tree" && find . -path ./build -prune -o -print | sort) >"$scratch/before"
run make -C "$tree" --no-print-directory clean
expect_status 0
(cd "$tree" && find . | sort) >"$scratch/after"
expect "only build/ to be gone" cmp -s "$scratch/before" "$scratch/after"

test_case "make compile_commands tells clangd how to read every source"
mkdir -p "$tree/work/05_shared_tree_reduction"
cp "$tree"/chapters/05_shared_tree_reduction/exercises/ex1_block_sum.cu "$tree/work/05_shared_tree_reduction/"
run make -C "$tree" --no-print-directory compile_commands
expect_status 0
commands=$tree/compile_commands.json
for file in chapters/05_shared_tree_reduction/shared_tree_reduction.cu work/05_shared_tree_reduction/ex1_block_sum.cu \
  tests/05_shared_tree_reduction.test.cu common/common.cuh tests/catch_main.cpp; do
  expect "an entry for $file" grep -q "\"file\": \"$file\"" "$commands"
done
if python=$(common/tools/setup/python.sh); then
  # Valid JSON; each command, run as it stands but for -c, has nothing to complain about.
  cat >"$scratch/try.py" <<'END'
import json, os, subprocess, sys
entries = {e["file"]: e for e in json.load(open("compile_commands.json", encoding="utf-8"))}
missing = [f for f, e in entries.items() if not os.path.isfile(os.path.join(e["directory"], f))]
print("missing:", missing)
said = ""
for name in sys.argv[1:]:
    command = ["-fsyntax-only" if a == "-c" else a for a in entries[name]["arguments"]]
    said += subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False).stderr
print(said)
sys.exit(1 if missing or said else 0)
END
  if command -v clang++ >/dev/null 2>&1; then
    # printf in a kernel, aligned shared arrays, cuda::atomic_ref, cg::reduce, copies in bulk.
    run env -C "$tree" "$python" "$scratch/try.py" chapters/05_shared_tree_reduction/shared_tree_reduction.cu \
      work/05_shared_tree_reduction/ex1_block_sum.cu chapters/00_first_kernel/first_kernel.cu \
      chapters/08_tiled_matmul/tiled_matmul.cu chapters/10_atomics_last_block/atomics_last_block.cu \
      chapters/11_warps_and_divergence/warps_and_divergence.cu chapters/16_tensor_cores/tensor_cores.cu
  else
    run env -C "$tree" "$python" "$scratch/try.py"
  fi
  expect_status 0
fi
rm -rf "$tree/work" "$commands" "$tree/build"

test_case "several verbs run one after the other"
answers 0 "$first" run make -C "$tree" --no-print-directory list clean CH="$first"

test_case "whatever is compiled is written beside its place and put there whole, for two makes may run at once"
run make -n -C "$tree" V=1 CXX=g++ "build/cpu/$first" build/cpu-xray/libcudacpu.a build/cpu/zoo/never_ends
expect_status 0
# A command over several lines is one.
written=$(printf '%s\n' "$out" | awk '/\\$/ { sub(/\\$/, ""); printf "%s", $0; next } { print }' | grep -E -e ' -o |ar rcs ')
expect "commands that write" [ "$(lines_in "$written")" -ge 8 ]
# shellcheck disable=SC2016
in_place=$(printf '%s\n' "$written" | grep -vE -e '(-o|rcs) [^ ]*[.][$][$].* && mv -f [^ ]*[.][$][$] ')
output=$in_place
expect "no command that writes in place" [ -z "$in_place" ]

test_case "with -n a verb that starts make again runs nothing either"
answers 0 "common/tools/checks/check" run make -n -C "$tree" --no-print-directory check BACKEND=cpu
expect "its commands and no result" [ "$(lines_in "$output")" -le 3 ]

test_case "make works where /tmp cannot be written"
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
  skip "needs root, to mount"
else
  # The tree may stand below /tmp: it is entered before that is covered.
  # shellcheck disable=SC2016
  run unshare -m bash -c 'mount -t tmpfs -o ro none /tmp && exec make list'
  expect_status 0
  expect_output "$first"
fi

test_case "make doctor without a folder for temporary files says so in one line and writes nothing"
complains_in_a_line 2 "$scratch/gone" run env TMPDIR="$scratch/gone" common/tools/setup/doctor.sh g++ nvcc
expect "nothing on standard output" [ -z "$out" ]

test_case "make doctor tells what is needed from what is optional"
answers 0 "To run a chapter" run make doctor
expect_output "g++"
expect_output "To run on a GPU"

test_case "a setting that nobody knows is one line with those that are near, before anything is done"
for pair in FIEL:FILE= ch:CH= EXERCISE:EX= BACKED:BACKEND=; do
  complains_in_a_line 2 "${pair%:*}=: there is no such setting; near it: ${pair#*:}" run make lab "${pair%:*}=05"
done
run make list QUIET=1
expect_output "common ones: CH="
answers fails "near it: FILE=" run make help list FIEL=x
run env FIEL=x make list
expect_status 0

test_case "every setting that the documents name is known, and those of make and its compilers"
names=$(cd "$home" && git ls-files '*.md' 'common/*.sh' '*.yml' Makefile .ci 2>/dev/null | xargs grep -hoE 'make [a-z][a-z -]*( [A-Z0-9_]+=[^ ]*)+' 2>/dev/null |
  grep -oE ' [A-Z][A-Z0-9_]*=' | sort -u)
for name in $names CH= BACKEND= ARGS= N= GDB= V= CC= CXXFLAGS= CUDA_CPU_WORKERS= XRAY_BLOCKS= TEST_SIZES=; do
  value=1
  case $name in CH=) value=05 ;; BACKEND=) value=cpu ;; esac
  case $name in CHAPTER= | FIEL= | NAME=) continue ;; esac
  run make list "$name$value"
  expect_no_output "no such setting"
done
run make list 'ARGS=--n 3 FIEL=4' CH=05
expect_status 0

# What a user types is text: nothing in it is run, neither by make nor by the shell. $touched must not come to be.
touched=$scratch/touched
untouched() { expect "nothing run by $1" [ ! -e "$touched" ]; rm -f "$touched"; }
settings=$(sed -n '/^SETTINGS :=/,/^#/{s/^SETTINGS :=//;/^#/d;s/\\$//;p;}' common/settings.mk)
free=$(sed -n 's/^FREE := //p' common/settings.mk)

test_case "a setting that needs no sign of the shell is refused in one line where it has one"
# shellcheck disable=SC1003,SC2016  # signs
for sign in "'" '"' '`' '$' '\' ';' '&' '|' '<' '>' '(' ')' '#' $'\n'; do
  answers_in_a_line 2 "no EX has a " run make list EX="1${sign}x"
done

for name in $settings; do
  test_case "$name= is text, to make and to the shell"
  # shellcheck disable=SC2016  # typed so
  text="1'; touch $touched; '"'$(shell touch '"$touched"')'
  run make list "$name=$text"
  untouched "make list $name="
  case " $free " in
    *" $name "*) ;;
    *)
      expect_status 2
      expect_one_line
      expect_output "$name=1'; touch"
      run make lab grade "$name=$text"
      expect_status 2
      untouched "make lab grade $name="
      ;;
  esac
  run env "$name=$text" make list
  untouched "$name= of the environment"
done

# tried NAME WORD...: make WORD... with NAME= as each of the texts that a shell, or make, would run something of
# shellcheck disable=SC2016  # typed so
texts=("'; touch %; '" '$(shell touch %)`touch %`; touch %' $'x\ntouch %' '"; touch %; "')
tried() {
  local text name=$1
  shift
  for text in "${texts[@]}"; do
    run make --no-print-directory "$@" "$name=${text//%/$touched}"
    untouched "make $* $name=$text"
  done
}
test_case "the settings that may hold anything are handed on in quotes"
tried FILE run
tried NAME new
tried EDITOR new NAME=quoted
tried DIR grade BACKEND=cpu
mkdir -p "$scratch/nobody"
tried OUT grade BACKEND=cpu DIR="$scratch/nobody"
mkdir -p work
echo 'int main() {}' >work/plain.cu
texts=("${texts[@]:0:2}")
for name in DEFINE INCLUDE LIBS; do tried $name run BACKEND=cpu FILE=work/plain.cu; done
# What X-ray is told: the command that make would run, with a listing of its environment in the command's place.
for name in CSV HTML; do
  # shellcheck disable=SC2016  # typed so
  text="1'; touch $touched; '"'$(shell touch '"$touched"')`touch '"$touched"'`'
  run make -n xray CH=05 EX=1 BACKEND=cpu "$name=$text"
  command=$(grep "common/labs/labs.sh xray" <<<"$out")
  run bash -c "${command%common/labs/labs.sh*}printenv $name"
  expect "$name as it was typed" [ "$output" = "$text" ]
  untouched "make xray $name="
done

test_case "ARGS= is words of the shell, as make help says, and make expands nothing in it"
run make help
expect_output "as words of the shell"
# shellcheck disable=SC2016  # typed so
run make run BACKEND=cpu CH="$first" 'ARGS=$(shell touch '"$touched"')'
untouched "make run ARGS="
run make -n run BACKEND=cpu CH="$first" 'ARGS=--only "a b"'
expect_output '--only "a b"'

test_case "variables of programs that make starts are text as well"
# shellcheck disable=SC2016  # typed so
run make run BACKEND=cpu CH="$first" 'CUDA_CPU_SCHEDULE=$(shell touch '"$touched"')'
untouched "make run CUDA_CPU_SCHEDULE="
# shellcheck disable=SC2016  # as it was typed
expect_output '$(shell touch'

test_case "what is no verb is not run"
# shellcheck disable=SC2016  # typed so
for goal in '$(shell touch %)' '; touch %' '`touch %`' "'; touch %; '" 'x;touch${IFS}%'; do
  run make list "${goal//%/$touched}" help
  expect_status 2
  untouched "make list '$goal' help"
done
