#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A class of which many are hostile is graded, killed and resumed twice, in a copy of the tree.
#
# STUDENTS=200 tries every trick that tests/tools/made_up_class.py knows, on all exercises (minutes); NO_BWRAP=1 hides
# bubblewrap. As another user: setpriv --reuid nobody --regid nogroup --clear-groups, with a TMPDIR of that user's.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "make grade"

students=${STUDENTS:-62}
chosen=(CH=05 EX=1)
[ "$students" -lt 200 ] || chosen=()
# As root, submissions run as other users, who need access.
chmod 711 "$scratch"
own_tree "$scratch/tree" labs/{channel,report}.{o,d} labs/cpu labs/cpu-xray
cd "$scratch/tree" || exit 1
mkdir -m 711 "$scratch/tmp"
export TMPDIR=$scratch/tmp
if [ -n "${NO_BWRAP:-}" ]; then
  mkdir "$scratch/bin"
  printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/bwrap"
  chmod 755 "$scratch/bin" "$scratch/bin/bwrap"
  export PATH=$scratch/bin:$PATH
fi
# A quote and a $ in the folder's name.
class="$scratch/the class's \$HOME"
grades=$scratch/grades.json
outside=$scratch/outside
mkdir "$outside"
"$python" tests/tools/made_up_class.py make "$class" "$students" "$outside" || exit 1

# Everything that grading must leave as it is, a line each. Folders that nobody may read are named only.
listed() {
  { find "$class" "$outside" -printf '%p %s %m %T@\n'
    find /dev/shm /tmp -maxdepth 1 -name left_by_a_student
    find . -path ./build -prune -o -name __pycache__ -prune -o -printf '%p %s %m\n'; } 2>/dev/null | LC_ALL=C sort
}
listed >"$scratch/before"

# killed SIGNAL MORE: grades until MORE results are kept than before, then sends the signal to the grading process
killed() {
  local process kept=0
  [ ! -f "$grades.partial" ] || kept=$(wc -l <"$grades.partial")
  make -s grade BACKEND=cpu TIME=15 ${chosen[@]+"${chosen[@]}"} DIR="$class" OUT="$grades" >"$scratch/first" 2>&1 </dev/null &
  # A run that ends by itself is not waited for.
  while kill -0 $! 2>/dev/null; do
    [ -f "$grades.partial" ] && [ "$(wc -l <"$grades.partial")" -ge $((kept + $2)) ] && break
    sleep 0.2
  done
  for process in /proc/[0-9]*; do
    # The first of them is the oldest: its supervisors go with it.
    if { tr '\0' ' ' <"$process/cmdline" | grep -q " labs grade .*OUT=$grades"; } 2>/dev/null; then
      kill -s "$1" "${process#/proc/}" 2>/dev/null
    fi
  done
  wait
  last_command="make grade, ended by $1"
  output=$(cat "$scratch/first") status=0
}

test_case "a run that is ended cleans up and keeps what it has"
killed TERM 3
expect "no grades yet" [ ! -e "$grades" ]
expect "an empty TMPDIR" [ -z "$(ls -A "$TMPDIR")" ]
expect_output "started again, it goes on from here"

test_case "a run that is killed keeps what it has"
killed KILL 3
expect "no grades yet" [ ! -e "$grades" ]
expect_output "known from before"
expect "six results" [ "$(wc -l <"$grades.partial")" -ge 6 ]

test_case "every honest submission is right, and no hostile one"
answers 0 "known from before" run make -s grade BACKEND=cpu TIME=15 ${chosen[@]+"${chosen[@]}"} DIR="$class" OUT="$grades"
if [ -n "${NO_BWRAP:-}" ]; then expect_output "not kept out: "; fi
run "$python" tests/tools/made_up_class.py judge "$class" "$grades"
expect_status 0
expect_no_output :

test_case "no list decides alone: what forges a pass gets none with some of them switched off"
mkdir -m 711 "$scratch/lists"
run "$python" tests/tools/without_lists.py "$scratch/lists"
expect_status 0
expect_no_output :

test_case "nothing is left, neither a file nor a process, and nothing is changed"
expect "an empty TMPDIR" [ -z "$(ls -A "$TMPDIR")" ]
expect "no .partial" [ ! -e "$grades.partial" ]
listed >"$scratch/after"
output=$(diff "$scratch/before" "$scratch/after")
expect "the same files" [ -z "$output" ]
# A compiler whose runner was killed while bubblewrap started goes on to its end: a few seconds.
for _ in $(seq 50); do
  output=$(pgrep -af "$scratch/tmp/grade") || break
  sleep 0.2
done
expect "no process" [ -z "$output" ]

test_case "what takes too long or too much to be read is given up, and what runs meanwhile has limits of its own"
cat >"$scratch/reading.py" <<'END'
import re, sys
sys.path.insert(0, ".")
from common.labs import runner
def gives_up(what):
    try:
        with runner.reading(0.5, 1 << 30):
            what()
    except runner.TooMuch:
        return True
    return False
assert gives_up(lambda: re.match("(?:[a-z0-9]+2)+[a-z0-9]+$", "2" * 60 + "_")) and gives_up(lambda: bytes(2 << 30))
assert not gives_up(lambda: None)
with runner.reading(0.5, 1 << 30):
    done = runner.run(["sh", "-c", "ulimit -v; i=0; while [ $i -lt 500000 ]; do i=$((i + 1)); done"], runner.Limits())
assert done.status == 0 and done.output.split() == ["unlimited"], done.output
assert len(bytes(2 << 30)) == 2 << 30  # afterwards there is no limit
END
run "$python" "$scratch/reading.py"
expect_status 0
expect_no_output .

test_case "a program that was just forked when its runner is killed ends as well"
cat >"$scratch/orphan.py" <<'END'
import os, signal, sys, time
sys.path.insert(0, ".")
from common.labs import runner
class Late:  # the runner is killed before the child can ask to go with it
    def prctl(self, what, *more):
        if what == runner.PR_SET_PDEATHSIG:
            runner_process = os.getppid()
            os.kill(runner_process, signal.SIGKILL)
            while os.getppid() == runner_process:
                time.sleep(0.001)
        return real.prctl(what, *more)
real, runner.LIBC = runner.LIBC, Late()
runner.run(["sleep", sys.argv[1]], runner.Limits())
END
bash -c '"$@"; true' killed "$python" "$scratch/orphan.py" 34.1234 2>/dev/null
sleep 0.5
output=$(pgrep -af 34.1234)
expect "no process" [ -z "$output" ]
pkill -f 34.1234
check=$scratch/check
run g++ -pthread -o "$check" build/labs/channel.o build/tests/catch_main.o
expect_status 0
cat >"$scratch/nobody_listens.py" <<'END'
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
ours.sendall(b"0" * 32)
ours.close()
environment = {**os.environ, "LAB_CHANNEL": str(theirs.fileno())}
sys.exit(subprocess.run([sys.argv[1]], env=environment, pass_fds=[theirs.fileno()]).returncode)
END
run "$python" "$scratch/nobody_listens.py" "$check"
expect_status 3
expect_no_output .

chmod 755 "$class/hostile_search/closed" # for whoever removes it

test_case "from inside of the sandbox nothing outside is read, written, signalled or reached"
mkdir -m 711 "$scratch/box"
run "$python" tests/tools/sandbox_holds.py "$scratch/box" "$outside/secret.txt"
if [ "$status" -eq 77 ]; then skip "$output"; else expect_status 0; fi

test_case "OUT that is no file is refused and left as it is"
for place in /dev/full /dev/null "$scratch" "$scratch/pipe"; do
  [ "$place" != "$scratch/pipe" ] || mkfifo "$place"
  run common/labs/labs.sh grade CH=05_shared_tree_reduction EX=1 DIR="$class" OUT="$place"
  expect_status 2
  expect_one_line
  expect "it is still there" [ -e "$place" ]
  expect "it is what it was" [ ! -f "$place" ]
done

test_case "what was lost is not kept, is done again by the same command, and until then the status is not 0"
mkdir "$scratch/one"
cp -R "$class/neighbour" "$scratch/one/"
once() { make -s grade BACKEND=cpu CH=05 EX=1 DIR="$scratch/one" OUT="$scratch/one.json" </dev/null; }
once >"$scratch/first" 2>&1 &
main=$!
# A supervisor is a child of a process with the same words: each is killed as soon as it is there.
while kill -0 $main 2>/dev/null; do
  for process in $(pgrep -f " labs grade .*OUT=$scratch/one.json"); do
    parent=$(ps -o ppid= -p "$process" 2>/dev/null)
    # Not python.sh, which looks for Python first.
    if pgrep -f "python[0-9.]* -S [^ ]* labs grade .*OUT=$scratch/one.json" | grep -qx "${parent// /}"; then
      kill -9 "$process" 2>/dev/null
    fi
  done
  sleep 0.05
done
wait $main
status=$? output=$(cat "$scratch/first") last_command="make grade, its supervisors killed"
expect_failure
expect_output "lost: 05.1"
expect_output "1 not graded"
expect "nothing kept" [ ! -s "$scratch/one.json.partial" ]
answers 0 "1/1" run once

test_case "a full disk and a tree that cannot be written are said in one line, and nobody's grade is lost"
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
  skip "needs root, to mount"
else
  mkdir "$scratch/small"
  cat >"$scratch/mounted" <<'END'
mount -t tmpfs -o size=16k none "$1/small" && head -c 16k /dev/zero >"$1/small/fill" 2>/dev/null
common/labs/labs.sh grade BACKEND=cpu CXX=g++ CH=05_shared_tree_reduction EX=1 DIR="$1/one" OUT="$1/small/grades.json" \
  >"$1/full.out" 2>"$1/full.err"
echo "$? $(grep -c 'No space left on device' "$1/full.err") $(grep -c Traceback "$1/full.err") $(grep -c '1/1' "$1/full.out")"
mount --bind . . && mount -o remount,ro,bind . && cd "$PWD"
common/labs/labs.sh grade BACKEND=cpu CXX=g++ CH=05_shared_tree_reduction EX=1 DIR="$1/one" 2>&1
common/labs/labs.sh grade BACKEND=cpu CXX=g++ CH=05_shared_tree_reduction EX=1 DIR="$1/one" OUT="$1/ro.json" >"$1/ro.out" 2>&1
echo "$? $(grep -c Traceback "$1/ro.out")"
END
  run unshare -m bash "$scratch/mounted" "$scratch"
  expect "each of them in one line" [ "$output" = "1 1 0 1
OUT=grades.json: cannot be written: Read-only file system
0 0" ]
fi

test_case "a teacher who is not root gets the same grades, also where only TMPDIR may be written"
if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid nobody --regid nogroup --clear-groups true 2>/dev/null; then
  skip "needs root, to become somebody else"
else
  mkdir "$scratch/few" "$scratch/nobody"
  for student in neighbour hostile_write hostile_writes_outside; do cp -R "$class/$student" "$scratch/few/"; done
  chown -R nobody:nogroup "$scratch/few" "$scratch/nobody" "$scratch/tree"
  cat >"$scratch/as_nobody" <<'END'
exec 9<"$1"
if [ "$2" = apart ] && mount -t tmpfs -o mode=755 none /tmp; then mkdir -p "$1" && mount --no-canonicalize --bind /proc/self/fd/9 "$1" && cd "$1/tree"; fi
export TMPDIR=$1/nobody HOME=$1/nobody
exec setpriv --reuid nobody --regid nogroup --clear-groups \
  make -s grade BACKEND=cpu CH=05 EX=1 TIME=15 DIR="$1/few" OUT="$1/nobody/grades.json"
END
  if unshare -m true 2>/dev/null; then
    run unshare -m bash "$scratch/as_nobody" "$scratch" apart
  else
    run bash "$scratch/as_nobody" "$scratch" here
  fi
  expect_status 0
  expect "one of three passed" [ "$(grep -c '1/1' <<<"$output")" -eq 1 ]
fi
