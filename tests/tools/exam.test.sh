#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Exams: what is asked for, which questions are taken, and that drawn numbers and their answers belong together.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"
unset SEED TIME CH

root=$PWD
exam() { run common/tools/slides/handout.sh exam "$@"; }

test_case "chapters that there are not, and what is no number, are refused in one line"
for ch in 99 02-99 05-02 02-03-04 - 5,x; do
  complains_in_a_line 2 "CH=$ch: no such chapters; expected as in 02-05 or 02,05,10. There are: 00 01" exam $ch 7 60
done
for seed in x -7 0 1.5 07 99999999999999999999; do
  complains_in_a_line 2 "SEED=$seed: expected a whole number from 1 on, as in SEED=7" exam 02-05 $seed 60
done
complains_in_a_line 2 "TIME=1h: expected the minutes of the exam, 1 to 600" exam 02-05 7 1h

test_case "make takes several chapters for an exam, and for nothing else"
answers 0 "handout.sh exam '02-05' '7' ''" run make -n exam CH=02-05 SEED=7
answers fails "CH=: which chapter?" run make -n exam CH=
answers fails "CH=02-05: no such chapter" run make -n handout CH=02-05

if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  skip_rest "exams are made" "node and npm are not here"
fi

test_case "every question has points and an answer, and every mark says the number that is written"
cat >"$scratch/all.mjs" <<'END'
const { examQuestions, randomBy, withNumbers, wrongWith } = await import(`${process.argv[2]}/common/tools/site/questions.mjs`)
let drawn = 0
for (const [chapter, exam] of examQuestions()) {
  for (const line of wrongWith(chapter, exam)) console.log(line)
  for (const asked of exam) {
    if (/<!--is /.test(asked.question)) console.log(`${chapter}: a question tells a computed number`)
    if (!/<!--draw/.test(asked.question)) continue
    drawn += 1
    for (let seed = 0; seed < 200; seed++) {
      const random = randomBy(`${seed}`)
      const { question, answer } = withNumbers(asked, (list) => list[Math.floor(random() * list.length)])
      const isOdd = /NaN|Infinity|undefined|<!--/.test(question + answer) || /(?<![\d.])0(?:\.0+)?(?= [a-zµ])/.test(answer)
      if (isOdd) console.log(`${chapter}: ${answer}`)
    }
  }
}
console.log(`${drawn > 15} no more`)
END
run node "$scratch/all.mjs" "$root"
expect "nothing else" [ "$output" = "true no more" ]

cmp -s slides/package-lock.json build/slides/packages/installed.json ||
  common/tools/slides/slides.sh html 00_course >/dev/null 2>&1 ||
  skip_rest "exams are made" "npm cannot fetch what slides/package-lock.json names"

# A house with three chapters of two questions each; tools and packages are the real ones.
house=$scratch/house
mkdir -p "$house/common" "$house/slides" "$house/build/slides" "$house/chapters"
ln -s "$root/common/tools" "$house/common/tools"
ln -s "$root/build/slides/packages" "$house/build/slides/packages"
cp slides/package-lock.json "$house/slides/"
questions=$house/chapters/exam_questions.md
for chapter in 02 03 04; do
  mkdir "$house/chapters/${chapter}_name"
  echo "# $chapter · Title $chapter" >"$house/chapters/${chapter}_name/README.md"
  cat >>"$questions" <<END

## $chapter Title

1. In $chapter 1,000<!--draw n: 999 1000 30000 40000--> bytes are read, 8<!--draw size: 4 8 16--> at a time. How often? <!--2 points-->

   > Secretly 125.0<!--is n / size--> times; ceil is 125<!--is ceil(n / size)-->, and n 1000<!--is n-->.

2. Why $chapter? <!--3 points-->

   > Because of $chapter.
END
done
in_house() { run env -C "$house" CHROME_PATH="${CHROME_PATH:-}" common/tools/slides/handout.sh exam "$@"; }
made=$house/build/exam

test_case "an exam has a question of each chapter, as many as there is time for, and no answers; the key has them"
in_house 02-04 7 20
expect_status 0
expect_output "build/exam/02-04_7_exam and 02-04_7_key: "
points=$(sed -n 's/.*: . questions, \([0-9]*\) points.*/\1/p' <<<"$out")
expect "at most 10 points" [ "$points" -le 10 ]
expect "no room for another" [ "$points" -ge 9 ]
output=$(cat "$made/02-04_7_exam.html")
for text in "Title 02" "Title 03" "Title 04" "3 points, 6 minutes" "Points, of $points"; do expect_output "$text"; done
expect "numbers that go on in the next chapter" grep -q 'start="[23]"' <<<"$output"
for text in Secretly Because SEED= '<!--'; do expect_no_output "$text"; done
output=$(cat "$made/02-04_7_key.html")
for text in Because "make exam CH=02-04 SEED=7 TIME=20"; do expect_output "$text"; done

test_case "numbers are drawn, others than those that everybody can read, and the answers are computed from them"
in_house 02 7 20
cat >"$scratch/numbers.py" <<'PYTHON'
import re, sys
exam, key = (open(f"{sys.argv[1]}_{name}.html").read() for name in ("exam", "key"))
n, size = re.search(r"In 02 ([\d,]+) bytes are read, (\d+) at a time", exam).groups()
value, bare, size = int(n.replace(",", "")), n.replace(",", ""), int(size)
assert value in (999, 30000, 40000) and size in (4, 16), (n, size)
assert n == f"{value:,}"
assert f"Secretly {value / size:,.1f} times; ceil is {-(-value // size):,}, and n {bare}." in key, key
PYTHON
needs_python "numbers are drawn"
run "$python" "$scratch/numbers.py" "$made/02_7"
expect_status 0

test_case "the same seed makes the same exam, another one another"
cp "$made/02_7_exam.html" "$scratch/before.html"
in_house 02 7 20
expect "the same" cmp -s "$scratch/before.html" "$made/02_7_exam.html"
other=0
for seed in 1 2 3 4 5 6; do
  in_house 02 $seed 20
  sed "s/Exam $seed/Exam 7/" "$made/02_${seed}_exam.html" | cmp -s - "$scratch/before.html" || other=$((other + 1))
done
expect "others" [ "$other" -ge 3 ]

test_case "chapters are taken once, in their order, however they are named"
in_house 04,2-3,03_name 7 60
expect_status 0
expect "three titles" [ "$(grep -o 'Title 0[234]</h2>' "$made/04,2-3,03_name_7_exam.html" | tr -d '\n')" = "Title 02</h2>Title 03</h2>Title 04</h2>" ]

test_case "too little time is told with the least there must be"
complains_in_a_line 2 "TIME=11: a question of each chapter takes at least 12 minutes" in_house 02-04 7 11
in_house 02-04 7 12
expect_output "3 questions, 6 points, 12 minutes"

test_case "a mark that says another number, a question without points and one without an answer are named, and nothing is made"
rm -r "$made"
sed -i.before 's/Secretly 125.0/Secretly 126.0/' "$questions"
answers 1 'chapter 03, question 1: "Secretly 126.0": by its mark it is 125.0' in_house 03 7 60
sed 's/is ceil(n/is seal(n/' "$questions.before" >"$questions"
complains_in_a_line 1 'chapter 03, question 1: seal is not defined' in_house 03 7 60
sed 's/draw size: 4 8 16/draw size: 4 16 32/' "$questions.before" >"$questions"
complains_in_a_line 1 'question 1: 8 is none of three or more numbers: 4 16 32' in_house 03 7 60
sed 's/ <!--3 points-->//' "$questions.before" >"$questions"
complains_in_a_line 1 'chapter 03, question 2: no points' in_house 03 7 60
sed '/Because/d' "$questions.before" >"$questions"
complains_in_a_line 1 'chapter 03, question 2: no answer' in_house 03 7 60
expect "nothing" [ ! -e "$made" ]
