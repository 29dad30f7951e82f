#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Grading as a teacher uses it, on a made-up class. Each student tries something else.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "make grade"

class=$scratch/class
grades=$scratch/grades.json
# The folder in which grading builds and runs. As root it runs as other users, who need access.
mkdir -p "$scratch/tmp"
chmod 711 "$scratch" "$scratch/tmp"
export TMPDIR=$scratch/tmp

# hand_in STUDENT EXERCISE: what is on stdin
hand_in() {
  mkdir -p "$class/$1/05_shared_tree_reduction"
  cat >"$class/$1/05_shared_tree_reduction/$2.cu"
}
# with_body EXERCISE BODY: the solution of the exercise with BODY put into its first kernel
with_body() {
  TEXT=$2 awk '{ print } /^__global__/ { inside = 1 } inside && /\{$/ { print ENVIRON["TEXT"]; inside = 0 }' \
    "$exercises/solutions/$1.cu"
}
# with_text EXERCISE TEXT: the solution with TEXT before its first kernel
with_text() {
  TEXT=$2 awk '/^__global__/ && !done { print ENVIRON["TEXT"]; done = 1 } { print }' "$exercises/solutions/$1.cu"
}

mkdir -p "$class"
for exercise in ex1_block_sum ex2_block_tree ex3_block_maximum ex4_wavefronts; do
  hand_in right $exercise <"$exercises/solutions/$exercise.cu"
done
mutant ex1_block_sum no_guard | hand_in wrong ex1_block_sum
mutant ex2_block_tree slots_not_filled | hand_in wrong ex2_block_tree
mutant ex4_wavefronts no_conflicts | hand_in wrong ex4_wavefronts
# Right results with more shared memory than the exercise allows; the same with a race that no result shows.
with_48_kib() { sed 's/block \* sizeof(int)>>>/48 << 10>>>/' "$exercises/solutions/ex3_block_maximum.cu"; }
with_48_kib | hand_in part ex3_block_maximum
sed 's/kInterleavedAt8 = 16/kInterleavedAt8 = 8/' "$exercises/solutions/ex4_wavefronts.cu" | hand_in part ex4_wavefronts
with_48_kib | sed 's/^  largest\[t\] = .*/&\n  if (t < 2) largest[12000] = t;/' | hand_in racing ex3_block_maximum
mutant ex2_block_tree no_barrier_in_the_loop | hand_in racing ex2_block_tree
mutant ex2_block_tree barrier_only_where_work_is | hand_in stuck ex2_block_tree
hand_in half_done ex1_block_sum <"$exercises/solutions/ex1_block_sum.cu"
# The same helper twice, with other names.
own_helper='inline __device__ int folded(const int* values, int count) {
  int best = count > 0 ? values[0] : -1;
  for (int at = 1; at < count; ++at) {
    if (values[at] > best) best = values[at];
    else if (values[at] == best) continue;
  }
  return best < 0 ? -best : best;
}'
with_text ex3_block_maximum "$own_helper" | hand_in copied ex3_block_maximum
with_text ex3_block_maximum "$(sed 's/values/w/g; s/best/top/g; s/folded/largest_of/; s/ at/ i/g; s/\[at/[i/g; s/++at/++i/' <<<"$own_helper")" | hand_in copier ex3_block_maximum
hand_in half_done ex2_block_tree <"$exercises/ex2_block_tree.cu"
mkdir -p "$class/empty"
echo 'this is no C++' | hand_in not_compiling ex1_block_sum
with_body ex1_block_sum '  for (volatile int forever = 1; forever != 0;) {}' | hand_in endless_loop ex1_block_sum
with_text ex2_block_tree 'static int sleeper = [] { for (volatile int turns = 0;; turns = turns + 1) {} return 0; }();' | hand_in endless_loop ex2_block_tree
with_text ex1_block_sum '#include <cstdlib>
#include <cstring>
static int hog = [] { for (;;) if (void* p = malloc(1 << 24)) memset(p, 1, 1 << 24); return 0; }();' |
  hand_in memory_hog ex1_block_sum
with_text ex1_block_sum '#include <unistd.h>
static int bomb = [] { for (;;) fork(); return 0; }();' | hand_in forks ex1_block_sum
with_text ex2_block_tree '#include <unistd.h>
static int orphan = [] { if (fork() == 0) { setsid(); for (;;) pause(); } return 0; }();' | hand_in forks ex2_block_tree
with_text ex1_block_sum '#include <cstdio>
#include <cstdlib>
static int faked = [] {
  std::puts("All tests passed (180 assertions in 1 test case)");
  std::puts("<testsuites><testsuite failures=\"0\"/></testsuites>");
  for (int file = 3; file < 200; ++file) dprintf(file, "x\tpassed\tevery block leaves the sum of its own elements\nx\tend\t1\n");
  _Exit(0);
  return 0;
}();' | sed 's/kThreads\];/kBlocks];/' | hand_in fake_output ex1_block_sum
with_body ex2_block_tree '  for (;;) printf("All tests passed\n");' | hand_in fake_output ex2_block_tree
sed 's/partial\[kThreads\]/partial[kBlocks]/' "$exercises/solutions/ex1_block_sum.cu" | hand_in edited_check ex1_block_sum
echo 'TEST_CASE("every block leaves the sum of its own elements") {}' | hand_in edited_check ex1_block_sum.check
{
  echo '#define CHECK(x) ((void)0)'
  echo '#define run(...) size()'
  cat "$exercises/ex2_block_tree.cu"
} | hand_in edited_check ex2_block_tree
{
  mutant ex3_block_maximum writes_nothing
  echo 'namespace lab { struct Trials; }'
} | hand_in edited_check ex3_block_maximum
with_text ex1_block_sum '#include <cstdlib>
static int leaver = (std::exit(0), 0);' | hand_in early_exit ex1_block_sum
with_body ex2_block_tree '  std::exit(0);' | hand_in early_exit ex2_block_tree
head -c 3000 /dev/urandom | hand_in binary_junk ex1_block_sum
echo "#include \"$PWD/$exercises/solutions/ex1_block_sum.cu\"" | hand_in reads_solution ex1_block_sum
printf '#define WHERE "%s"\n#include WHERE\n' "$PWD/$exercises/solutions/ex2_block_tree.cu" | hand_in reads_solution ex2_block_tree
mkdir -p "$class/reads_solution/05_shared_tree_reduction"
ln -s "$PWD/$exercises/solutions/ex3_block_maximum.cu" "$class/reads_solution/05_shared_tree_reduction/"
echo 'not a student' >"$class/notes.txt"

# grade [NAME=VALUE...]
grade() { run make -s grade BACKEND=cpu CH=05 TIME=8 DIR="$class" "$@"; }
# verdicts FILE: "student exercise verdict points", one per line, of everything that was handed in
verdicts() {
  "$python" - "$1" <<'PYTHON'
import json, sys
for student in json.load(open(sys.argv[1]))["students"]:
    for e in student["exercises"]:
        print(student["name"], e["id"].split("/")[1].split("_")[0], e["verdict"], e["points"])
PYTHON
}

cat >"$scratch/expected" <<'END'
binary_junk ex1 refused 0
copied ex3 passed 3
copier ex3 passed 3
early_exit ex1 early 0
early_exit ex2 build 0
edited_check ex1 failed 0
edited_check ex2 failed 0
edited_check ex3 refused 0
endless_loop ex1 failed 0
endless_loop ex2 time 0
fake_output ex1 forged 0
fake_output ex2 output 0
forks ex1 refused 0
forks ex2 refused 0
half_done ex1 passed 1
half_done ex2 untouched 0
not_compiling ex1 build 0
part ex3 failed 1
part ex4 failed 1.5
racing ex2 failed 0
racing ex3 failed 0
reads_solution ex1 refused 0
reads_solution ex2 refused 0
reads_solution ex3 refused 0
right ex1 passed 1
right ex2 passed 2
right ex3 passed 3
right ex4 passed 2
stuck ex2 failed 0
wrong ex1 failed 0
wrong ex2 failed 0
wrong ex4 failed 1
END

test_case "each student gets the right grade"
grade OUT="$grades"
expect_status 0
# A file that is not in the sandbox does not exist for the compiler; without one it is refused.
verdicts "$grades" | sed 's/^\(reads_solution .*\) build 0/\1 refused 0/' >"$scratch/verdicts"
grep -v ' missing 0$' "$scratch/verdicts" | grep -v '^memory_hog ' >"$scratch/handed_in"
output=$(diff "$scratch/expected" "$scratch/handed_in")
expect "these verdicts" [ -z "$output" ]

test_case "the message names the value that is wrong, the race or the barrier that was seen, and a forgery"
# said STUDENT EXERCISE: the message
said() {
  run "$python" -c '
import json, sys
for student in json.load(open(sys.argv[1]))["students"]:
    for e in student["exercises"]:
        if student["name"] == sys.argv[2] and e["id"].endswith(sys.argv[3]):
            print(e["message"])' "$grades" "$1" "$2"
}
said racing ex2_block_tree
expect_output "sums[0]: expected "
expect_output "; race: a "
said stuck ex2_block_tree
expect_output "barrier not reached by all threads of the block"
said wrong ex1_block_sum
expect_no_output "race"
said racing ex3_block_maximum
expect_output "race: a write"
run "$python" -c '
import json, sys
print([e["part"] for s in json.load(open(sys.argv[1]))["students"] if s["name"] == "part" for e in s["exercises"] if "part" in e])' "$grades"
expect_output "['the results are right, what the exercise asks for beside them is missing', '4 of 5 predictions are right']"
said fake_output ex1_block_sum
expect_output "writes to the channel over which the check tells its outcome"

test_case "a memory hog gets nothing, whichever limit it hits first"
output=$(grep '^memory_hog ex1' "$scratch/verdicts")
expect "0 points" [ "$(echo "$output" | grep -c ' \(memory\|time\|early\|crash\|failed\) 0$')" -eq 1 ]

test_case "nothing of a submission is left running"
output=$(pgrep -f "$scratch/tmp/grade")
expect "no process" [ -z "$output" ]

test_case "changed checks and files beside the folders are named and ignored"
run cat "$grades"
expect_output "ex1_block_sum.check.cu: ignored, the check is the tutorial's own"
expect_output "notes.txt: not a folder, ignored"

test_case "two submissions that differ in names are remarked, right ones like the solution are not"
expect_output "05_shared_tree_reduction/ex3_block_maximum: copied and copier read alike: 100% of what is their own, names apart"
expect "no other pair" [ "$(grep -c 'read alike' <<<"$output")" -eq 1 ]

test_case "the XML counts what the JSON holds"
cat >"$scratch/compare.py" <<'PYTHON'
import json, sys, xml.etree.ElementTree as xml
grades = json.load(open(sys.argv[1]))
suites = xml.parse(sys.argv[1].replace(".json", ".xml")).getroot()
assert suites.tag == "testsuites" and len(suites) == len(grades["students"])
for suite, student in zip(suites, grades["students"]):
    assert suite.get("name") == student["name"]
    assert int(suite.get("tests")) == len(suite) == len(student["exercises"])
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    for case, exercise in zip(suite, student["exercises"]):
        assert f"{case.get('classname')}/{case.get('name')}" == exercise["id"]
        passed = case.find("failure") is None and case.find("skipped") is None
        assert passed == (exercise["verdict"] == "passed") == (exercise["points"] == exercise["possible"]), exercise
        assert (exercise["points"] > 0) == (passed or "part" in exercise), exercise
PYTHON
run "$python" "$scratch/compare.py" "$grades"
expect_status 0

test_case "OUT=grades.csv: tables for Moodle and Canvas, and a page for each student"
class=$scratch/booked
hand_in ada ex2_block_tree <"$exercises/solutions/ex2_block_tree.cu"
hand_in ada ex1_block_sum <"$exercises/ex1_block_sum.cu"
mutant ex2_block_tree no_barrier_in_the_loop | hand_in '=1+1, "x"' ex2_block_tree
mutant ex2_block_tree barrier_only_where_work_is | hand_in stuck ex2_block_tree
cp "$exercises/solutions/ex3_block_maximum.cu" "$class/stuck/"
answers 0 "grades.feedback/" run common/labs/labs.sh grade DIR="$class" CH=05_shared_tree_reduction OUT="$scratch/book/grades.csv"
expect_output "ex3_block_maximum.cu: ignored, its place is in a folder 05_shared_tree_reduction"
cat >"$scratch/books.py" <<'PYTHON'
import csv, json, sys
base = sys.argv[1]
grades = json.load(open(f"{base}.json"))
moodle, books = [list(csv.reader(open(base + end))) for end in (".csv", ".canvas.csv")]
assert moodle[0][0] == "ID number" and moodle[0][-1] == "all points", moodle[0]
assert [row[0] for row in moodle[1:]] == ["'=1+1, \"x\"", "ada", "stuck"], moodle
assert books[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], books[0]
assert books[1] == ["Points Possible", "", "", "", ""] + [str(e["points"]) for e in grades["exercises"]], books[1]
for row, other, student in zip(moodle[1:], books[2:], grades["students"]):
    points = [str(e["points"]) for e in student["exercises"]]
    assert row[1:-1:2] == points == other[5:] and row[-1] == str(student["points"]), (row, other)
    assert len(row) == len(moodle[0]) and len(other) == len(books[0])
assert moodle[1][4].startswith("failed: ex2_block_tree.cu:") and "race: a write" in moodle[1][4], moodle[1]
assert moodle[3][4].startswith("failed: ex2_block_tree.cu:") and "barrier not reached" in moodle[3][4], moodle[3]
assert moodle[2][4] == "passed" and moodle[2][2] == "untouched: still the starter", moodle[2]
assert "nothing orders the two" in moodle[1][4] and moodle[1][4].count("ex2_block_tree.cu:") == 2, moodle[1]
text = open(f"{base}.feedback/_1+1___x_.html").read()
assert "<h1>=1+1, &quot;x&quot;</h1>" in text and text.index("race: a write") < text.index("expected"), text
assert "2 of 8 points" in open(f"{base}.feedback/ada.html").read()
PYTHON
run "$python" "$scratch/books.py" "$scratch/book/grades"
expect_status 0
mkdir -p "$scratch/taken/grades.canvas.csv"
answers_in_a_line 2 "no ordinary file" \
  run common/labs/labs.sh grade DIR="$class" CH=05_shared_tree_reduction OUT="$scratch/taken/grades.csv"

test_case "students.csv: who has handed in nothing has 0 points, and the tables have names, ids and Canvas's columns"
class=$scratch/listed
hand_in ada ex2_block_tree <"$exercises/solutions/ex2_block_tree.cu"
hand_in guest ex2_block_tree <"$exercises/ex2_block_tree.cu"
listed() { run common/labs/labs.sh grade DIR="$class" CH=05_shared_tree_reduction EX=2 OUT="$scratch/listed_grades/$1.csv"; }
printf '\xef\xbb\xbffolder;name;id\r\nzoe;"Zoe, Z.";0071\r\nada;Ada Lovelace;0042\r\n' >"$class/students.csv"
answers 0 "guest: not in students.csv" listed own
expect "a line for zoe" [ "$(grep -c '^zoe .* 0/2 .*nothing handed in$' <<<"$output")" -eq 1 ]
expect_no_output "students.csv: not a folder"
cat >"$class/students.csv" <<'END'
Student,ID,SIS User ID,SIS Login ID,Section,05.2 The barrier that some threads never reach (8123),Quiz (77)
    Points Possible,,,,,2,10
"Lovelace, Ada",901,0042,ada,Tuesday,1,3
"Z., Zoe",902,0071,zoe,Friday,,
END
listed canvas
expect_status 0
cat >"$scratch/listed.py" <<'PYTHON'
import csv, json, sys
folder = sys.argv[1]
def rows(name):
    return list(csv.reader(open(f"{folder}/{name}")))
own = rows("own.csv")
assert [row[0] for row in own[1:]] == ["0071", "0042", "guest"], own
assert own[1][1:] == ["0", "missing: nothing handed in", "0"] and own[2][1:] == ["2", "passed", "2"], own
title = "05.2 The barrier that some threads never reach"
assert rows("own.canvas.csv") == [
    ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title],
    ["Points Possible", "", "", "", "", "2"],
    ["Zoe, Z.", "", "0071", "zoe", "", "0"],
    ["Ada Lovelace", "", "0042", "ada", "", "2"],
    ["guest", "", "", "guest", "", "0"],
], rows("own.canvas.csv")
assert rows("canvas.canvas.csv") == [
    ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{title} (8123)"],
    ["Points Possible", "", "", "", "", "2"],
    ["Lovelace, Ada", "901", "0042", "ada", "Tuesday", "2"],
    ["Z., Zoe", "902", "0071", "zoe", "Friday", "0"],
    ["guest", "", "", "guest", "", "0"],
], rows("canvas.canvas.csv")
zoe = json.load(open(f"{folder}/own.json"))["students"][0]
assert zoe["exercises"][0]["message"] == "nothing handed in" and zoe["points"] == 0, zoe
assert "<title>Ada Lovelace: 2 of 2 points</title>" in open(f"{folder}/own.feedback/ada.html").read()
PYTHON
run "$python" "$scratch/listed.py" "$scratch/listed_grades"
expect_status 0
printf 'folder,name\nada,A\nada,B\n' >"$class/students.csv"
answers_in_a_line 2 "students.csv: ada comes twice" listed twice
printf 'login,name\nada,A\n' >"$class/students.csv"
answers_in_a_line 2 "students.csv: no column folder, nor Canvas's columns Student and ID, in: login, name" listed wrong
class=$scratch/class

test_case "an archive from Moodle is graded as it is, and what goes back has its names"
given=$scratch/given
mkdir -p "$given/Ada L._71_assignsubmission_file/work/05_shared_tree_reduction"
cp "$exercises/solutions/ex2_block_tree.cu" "$given/Ada L._71_assignsubmission_file/work/05_shared_tree_reduction/"
mkdir "$given/Bo B._72_assignsubmission_file"
echo 'this is no C++' >"$given/Bo B._72_assignsubmission_file/ex2.cu"
(cd "$given" && "$python" -m zipfile -c ../given.zip ./*)
printf 'folder,name,id\nAda L._71,Ada Lovelace,0042\n' >"$scratch/students.csv"
answers 0 "given_grades/grades.feedback.zip: the same, as Moodle takes them back" \
  run common/labs/labs.sh grade DIR="$scratch/given.zip" CH=05_shared_tree_reduction EX=2 OUT="$scratch/given_grades/grades.csv"
rm "$scratch/students.csv"
output=$(cat "$scratch/given_grades/grades.csv")
expect_output $'\n0042,2,passed,2\n'
expect_output "Bo B._72,0,build: ex2_block_tree.cu:1:1: error: "
output=$("$python" -m zipfile -l "$scratch/given_grades/grades.feedback.zip")
expect_output "Ada L._71_assignsubmission_file/feedback.html "
expect_output "Bo B._72_assignsubmission_file/feedback.html "
echo 'no archive' >"$scratch/given.zip"
answers_in_a_line 2 "given.zip: cannot be read: File is not a zip file" run common/labs/labs.sh grade DIR="$scratch/given.zip" CH=05_shared_tree_reduction
expect "nothing left behind" [ -z "$(find "$scratch/tmp" -maxdepth 1 -name 'grade.*')" ]

test_case "a folder that is not there, none at all, or one without students: one line, status 2"
answers_in_a_line 2 "no such folder or archive" run common/labs/labs.sh grade DIR="$scratch/nowhere"
run common/labs/labs.sh grade
expect_status 2
expect_one_line
mkdir -p "$scratch/nobody"
run common/labs/labs.sh grade DIR="$scratch/nobody"
expect_status 2
expect_one_line
run common/labs/labs.sh grade DIR="$class" OUT=/dev/null/grades.json
expect_status 2
expect_one_line
run common/labs/labs.sh grade DIR="$class" JOBS=none
expect_status 2
expect_one_line
