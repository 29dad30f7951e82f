#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A fresh machine: what is missing is installed, or the command that installs it is printed.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

tools=$PWD/common/tools
compiler=$(command -v g++)

# A machine whose only installer is apt-get, without package lists. Like the real one, it installs nothing before
# `apt-get update`, and reports success all the same. $scratch/called holds the calls, $scratch/installed the packages.
# shellcheck disable=SC2016  # expanded when the stand-in runs
fake_machine() { # USER_ID SUDO_STATUS
  fake_command id "echo $1"
  fake_command sudo '[ "$1" = -n ] && exit '"$2"'; exec "$@"'
  fake_command apt-get 'cd '"$scratch"' && echo "apt-get $*" >>called
if [ "$1" = update ]; then touch updated; fi
[ "$1" = install ] && [ -e updated ] || exit 0
printf "%s\n" "$@" >>installed
[[ " $* " != *" g++ "* ]] || ln -sf '"$compiler"' fresh/g++'
  fake_command dpkg-query 'grep -qxF -e "${*: -1}" '"$scratch"'/installed && printf installed'
  rm -f "$scratch"/{called,updated,installed}
}

test_case "root installs with the package manager, after fetching lists where there are none"
fake_machine 0 1
run with_fakes "$tools/setup/install.sh" catch2
expect_status 0
expect "catch2 installed, lists fetched, once more" [ "$(grep -oE '^apt-get (update|install -y catch2)' "$scratch/called" | tr '\n' ',')" = \
  "apt-get install -y catch2,apt-get update,apt-get install -y catch2," ]

test_case "what is installed at once costs no lists"
fake_machine 0 1
touch "$scratch/updated"
run with_fakes "$tools/setup/install.sh" catch2
expect_status 0
expect "catch2 installed" [ "$(wc -l <"$scratch/called")" -eq 1 ]

test_case "sudo without a password installs as well"
fake_machine 1000 0
run with_fakes "$tools/setup/install.sh" catch2
expect_status 0
expect "catch2 installed" grep -qx catch2 "$scratch/installed"

test_case "without root and with a sudo that asks, the exact command is printed and nothing is called"
fake_machine 1000 1
run with_fakes "$tools/setup/install.sh" catch2
expect_failure
expect_one_line
expect "the command" [ "${output#sudo apt-get update && }" = "sudo apt-get install -y catch2" ]
expect "nothing called" [ ! -e "$scratch/called" ]

test_case "a package manager that fails is quoted, and the command is printed"
fake_machine 0 1
fake_command apt-get 'echo "E: no such package" >&2; exit 100'
answers fails "E: no such package" run with_fakes "$tools/setup/install.sh" catch2
expect "the command" [ "${out#apt-get update && }" = "apt-get install -y catch2" ]

# ---- make on a machine with make, git and nothing else -------------------------------------------------------------

# Its PATH: what stands here, but for compilers, nvcc and package managers, of which only the stand-ins are there.
fresh=$scratch/fresh
all_but_managers "$fresh"
rm -f "$fresh"/{*g++*,*gcc*,*clang*,c++,cc,nvcc,nvidia-smi}
tree=$scratch/tree
mkdir -p "$tree"
cp -R Makefile chapters common tests "$tree/"
fresh_make() { env -u CXX PATH="$fake:$fresh" make -C "$tree" --no-print-directory "$@"; }

test_case "the compiler is installed before anything is built, after fetching lists"
fake_machine 0 1
answers 0 "installing g++" run fresh_make -n run CH=05
expect "g++ installed" grep -qx 'g++' "$scratch/installed"
expect_output "run_programs.sh build/cpu '05_shared_tree_reduction'"
rm -rf "$fresh/g++" "$tree/build"

test_case "where no compiler comes, one line says so with the whole command, and nothing is built"
fake_machine 0 1
fake_command apt-get 'exit 0'
run fresh_make run CH=05
expect_status 2
expect "one line of an error" [ "$(grep -c '\*\*\*' <<<"$err")" -eq 1 ]
expect_output "no C++ compiler 'g++' here. Run: apt-get "
expect_output "apt-get install -y g++."
expect "no build folder" [ ! -e "$tree/build" ]
answers fails "FAIL  compiler; run: apt-get " run fresh_make setup
expect_output "What chapters, tests and labs need, in one command: apt-get "
expect_output "apt-get install -y g++ catch2"
expect "no empty command" [ -z "$(grep -E 'run: *$' <<<"$output")" ]

test_case "a package without the compiler in it is said, not an empty command"
fake_machine 0 1
touch "$scratch/updated"
sed -i '/g++/d' "$fake/apt-get"
answers 2 "Its package is installed: is it on PATH?" run fresh_make run CH=05
run fresh_make setup
expect_output "FAIL  compiler: its package is installed, but this fails: command -v g++"

test_case "a container's packages are those of make setup: its Dockerfile runs the setup's scripts, and names none"
steps=$(sed -n 's/^RUN //p' .devcontainer/Dockerfile)
expect "one step, of the setup's scripts" [ "$steps" = "apt-get update && /opt/setup/install.sh base && /opt/setup/setup.sh g++ && rm -rf /var/lib/apt/lists/*" ]
expect "which are copied" grep -qx 'COPY common/tools/setup /opt/setup/' .devcontainer/Dockerfile
# The step is executed on a machine that has nothing, but for its last command.
bare=$scratch/bare
mkdir -p "$bare"
for name in bash dirname basename mktemp rm mkdir cat tail sed grep env uname cmp tr touch ln; do ln -sf "$(command -v $name)" "$bare/$name"; done
fake_machine 0 1
cp -r "$tools/setup" "$scratch/setup"
steps=${steps%% && rm *}
run env -i PATH="$fake:$bare" bash -c "cd $scratch && ${steps//\/opt\/setup/$scratch/setup}"
for package in 'ca-certificates git make' g++ catch2 bubblewrap clang-format shellcheck; do
  expect "$package installed" grep -q "^apt-get install -y $package -qq" "$scratch/called"
done
# The workflow needs the first of them before it has these scripts.
mapfile -t first < <(with_fakes "$tools/setup/install.sh" --how base compiler | sed 's/.*apt-get install -y //; s/ /\n/g' | sort)
mapfile -t typed < <(sed -n 's/.*apt-get install -y --no-install-recommends //p' .github/workflows/ci.yml | sed 's/ /\n/g' | sort)
expect "the workflow's packages: ${first[*]}" [ "${typed[*]}" = "${first[*]}" ]
