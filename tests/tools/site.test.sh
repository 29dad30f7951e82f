#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make site and make serve as a user types them, on a small tree of their own. Pages that are broken on
# purpose show what the look at the site finds.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"
unset BASE PORT

# ---- a course of one chapter ---------------------------------------------------------------------

tree=$scratch/tree
chapter=chapters/03_coalesced_threads
mkdir -p "$tree/common" "$tree/slides" "$tree/$chapter/figures" "$tree/$chapter/results" "$tree/$chapter/exercises" "$tree/tests/zoo"
cp Makefile "$tree/"
cp slides/package.json slides/package-lock.json "$tree/slides/"
cp -R common/tools common/*.mk "$tree/common/"
cat >"$tree/README.md" <<'END'
# A course, in one chapter

Short, and with {{ braces }}.

[Chapter 03](chapters/03_coalesced_threads/README.md#what-it-is-a-question), [the zoo](tests/zoo), [elsewhere](https://example.org/).

<details><summary>Which is faster?</summary>

| chapter | what changed | GB/s on an H200 |
|---|---|---:|
| 02 | a chapter that is not here | 1 |
| 03 | one block; more | 1,000.0<!--=a GB/s--> |
| 03 | four loads | 2,500 |

</details>
END
cat >"$tree/$chapter/README.md" <<'END'
# 03 · Coalesced threads

## What *it* is: a question?

<!-- guess: # times -->
<details><summary><b>Guess.</b> How many times as fast, and <code>which</code>?</summary>

1.5<!--=a ms--> ms: 4.0 times as *slow*.

</details>

One reason, a [bank](../GLOSSARY.md#bank).

## Another

<!-- guess
= The second
- The first | It comes `before`.
-->
<details><summary><b>Guess.</b> Which of <em>two</em>?</summary>

The reckoning.

The second.

</details>

Another reason.

## A program

<!-- code: kernel -->
```cuda
__global__ void kernel() { [[link]](nowhere.md); }  // <!-- stays -->
```
<!-- end -->

![Four loads](figures/accesses.svg)

![A square](figures/square.svg) and [its program](coalesced_threads.cu), [numbers](results/h200.csv).

## A warp

Half of the warp.

![Two halves](figures/halves.svg)

| bug | symptom | who finds it |
|---|---|---|
| No barrier, which the block needs | `wrong sums` now and then, on some machines | the race detector |

| version | what it is | time [ms] |
|---|---|---:|
| `a` | words | 1 |
END
cat >"$tree/chapters/GLOSSARY.md" <<'END'
# Glossary

<a id="bank"></a>**bank**: One "part" of `a * b`, *so* said. [03](03_coalesced_threads/README.md) <!-- also: banks -->

<a id="warp"></a>**warp**: 32 threads, of which a lesson speaks more often. [03](03_coalesced_threads/README.md)
END
cat >"$tree/$chapter/lab_notes.md" <<'END'
# 03 · Lab notes

## One proof

With a [way back](README.md).

### A part of it

## Another *proof*

End.
END
cat >"$tree/chapters/exam_questions.md" <<'END'
# Exam questions

## 03 Coalesced threads

1. How many sectors does `x[t]` ask for?

   > 4, and so on: 128<!-- bytes --> bytes.

2. Why?

   > So.

3. Which?

   > The second.
END
cat >"$tree/chapters/quiz.md" <<'END'
# The quiz

## 03 Coalesced threads

1:
sectors | #, and so on
bytes | : # bytes

2:
= So
- Not so | It is `so`.

3:
- The first | No.
= The second
- The third | No, either.
END
mkdir -p "$tree/$chapter/exercises/solutions"
cat >"$tree/$chapter/exercises/ex1_a.check.cu" <<'END'
TEST_CASE("it adds") {
  lab::exactly("loads of " + whose, seen.loads(), div_up(n, 32),
               "once each");  // lab::exactly("not this", 1, 2, "a comment")
  lab::exactly("elements that " + whose + " load", loads, 1, "one after the other");
  lab::exactly("stores, in all, of a block of " + block, stores, 1, "one for each of " + n + " threads: each once");
  lab::expect(is, "the sum", "of \"all\"", "others");
  lab::predict("kLoads", kLoads, 4, "the lesson");
}
END
cat >"$tree/$chapter/exercises/starters.txt" <<'END'
[ex1_a]
chapter 03, exercise 1: One
  not yet   it adds

[ex2_b]
chapter 03, exercise 2: Another
  not yet   it adds more
END
cat >"$tree/$chapter/exercises/README.md" <<'END'
# Labs

## 1. One

[ex1_a.cu](ex1_a.cu) · fix the bug · 10 minutes · 1 point

<details><summary>Hint 1</summary>

Look at the line that is marked.

</details>

## 2. Another

[ex2_b.cu](ex2_b.cu) · write the kernel · 25 minutes · 2 points

<details><summary>Hint 1</summary>

Look at the lines that are marked.

</details>
END
echo '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><path d="M4 4h30v30H4z"/></svg>' >"$tree/$chapter/figures/square.svg"
cp "$tree/$chapter/figures/square.svg" "$tree/$chapter/figures/accesses.svg"
sed 's/<svg /<svg data-panels="0 0 20 30, 20 0 20 30, 10 30 30 10" /' "$tree/$chapter/figures/square.svg" >"$tree/$chapter/figures/halves.svg"
cp $chapter/results/xray.csv "$tree/$chapter/results/"
printf 'device,version,rate\nH200,a,1.5\nH200,"b, c",20\n' >"$tree/$chapter/results/h200.csv"
printf '// SPDX-License-Identifier: MIT\nint main() {}\n' |
  tee "$tree/$chapter/coalesced_threads.cu" "$tree/$chapter/exercises/solutions/ex1_a.cu" "$tree/$chapter/exercises/solutions/ex2_b.cu" >"$tree/tests/zoo/bug.cu"
printf 'int a;  // TODO: 1\nint b;\n' >"$tree/$chapter/exercises/ex1_a.cu"
printf 'int a;\n// TODO: more\nint b;\n// end of TODO\n' >"$tree/$chapter/exercises/ex2_b.cu"
cp "$tree/$chapter/exercises/ex1_a.check.cu" "$tree/$chapter/exercises/ex2_b.check.cu"

site() { run make -C "$tree" --no-print-directory "$@"; }
# What make calls, without make's own line about a failure.
# shellcheck disable=SC2016
site_sh() { run bash -c 'cd "$1" && shift && common/tools/site/site.sh "$@"' - "$tree" "$@"; }

# ---- what needs nothing --------------------------------------------------------------------------

for bad in x /x x/ /a//b/ '/a b/' /../; do
  test_case "the base path '$bad' is refused in one line"
  complains_in_a_line 2 "BASE=$bad" site_sh build "$bad"
  expect "no build folder" [ ! -e "$tree/build" ]
done

for bad in 0 65536 abc 999999; do
  test_case "the port $bad is refused in one line"
  complains_in_a_line 2 "PORT=$bad" site_sh serve / "$bad"
done

test_case "make passes BASE and PORT on"
answers 2 "BASE=x" site site BASE=x
answers 2 "PORT=x" site serve PORT=x

test_case "make site without Node.js says how to get it"
all_but_managers "$scratch/bin"
rm -f "$scratch/bin/"{node,npm}
PATH=$scratch/bin site_sh build /
expect_status 2
expect_one_error_line
expect_output "the site needs node"
expect "no build folder" [ ! -e "$tree/build" ]

# ---- what needs Node.js --------------------------------------------------------------------------

{ command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; } ||
  skip_rest "the site of a small course" "Node.js is not here"

# The packages that make site and make slides have installed before will do.
# installed FROM FOLDER
installed() {
  cmp -s "$1/package-lock.json" "$2/installed.json" || return 0
  mkdir -p "$tree/$2"
  cp -RPl "$2/node_modules" "$tree/$2/" 2>/dev/null || cp -RP "$2/node_modules" "$tree/$2/"
  cp "$2/installed.json" "$tree/$2/"
}
installed common/tools/site build/site-src
installed slides build/slides/packages

built=$tree/build/site
test_case "a dead link is told with file and line, and nothing is built"
cp "$tree/README.md" "$scratch/README.md"
printf '\n[Gone](gone.md)\n' >>"$tree/README.md"
site site
if has "$output" "npm could not install"; then
  skip "the packages cannot be installed here"
  exit
fi
expect_failure
expect_output "README.md:17: dead link gone.md"
expect "no site" [ ! -e "$built" ]
cp "$scratch/README.md" "$tree/README.md"

test_case "make site builds every page that is linked to, and says which decks are missing"
touch "$tree/slides/03_coalesced_threads.md"
answers 0 "not in it: 1 of the decks; make slides builds them, make site takes them in" site site BASE=/course/
for page in index.html $chapter/index.html $chapter/lab_notes.html $chapter/coalesced_threads.cu.html $chapter/results/h200.csv.html \
  $chapter/results/h200.csv $chapter/exercises/index.html $chapter/exercises/ex1_a.cu.html \
  tests/zoo/index.html tests/zoo/bug.cu.html; do
  expect "the page $page" [ -f "$built/$page" ]
done

html() { cat "$built/$1"; }
test_case "what GitHub shows as text is text on the site"
expect "braces as they are" has "$(html index.html)" "{{ braces }}"
expect "a comment in code" has "$(html $chapter/index.html)" "&lt;!-- stays --&gt;"
expect "code is no link" has "$(html $chapter/index.html)" "(nowhere.md)"
expect "no marker" has_not "$(html $chapter/index.html)" "code: kernel"
expect "GitHub's anchor" has "$(html $chapter/index.html)" 'id="what-it-is-a-question"'
expect "a link to it" has "$(html index.html)" "$chapter/#what-it-is-a-question"
expect "the base path" has "$(html index.html)" '"/course/assets/'

test_case "above the front page's table stand bars as long as its numbers, each a link to its chapter, in the same fold"
expect "the fold" grep -q '<details><summary>Which is faster?</summary><p class="ladder-title">' <<<"$(html index.html | tr -d '\n')"
bars=$(html index.html | tr -d '\n')
expect "two bars" [ "$(grep -o 'class="bar"' <<<"$bars" | wc -l)" -eq 2 ]
for bar in '03 · one block</span><span class="bar"><span style="width:40.00%;">' '03 · four loads</span><span class="bar"><span style="width:100.00%;">'; do
  expect "the bar" has "$bars" "<a href=\"./$chapter/\"><span>$bar"
done

test_case "each section of the lab notes is folded, and notes and lab notes lead to each other"
lab_notes=$(html $chapter/lab_notes.html)
expect "two folds" [ "$(grep -o '<details class="section">' <<<"$lab_notes" | wc -l)" -eq 2 ]
expect "an anchor in each" has "$lab_notes" 'id="another-proof"'
expect "the way there" has "$(html $chapter/index.html)" ">Lab notes</a>"
expect "the way back" has "$lab_notes" ">Lesson of chapter 03</a>"

test_case "in a lesson all that follows a guess waits for it, and its fold is opened"
notes=$(html $chapter/index.html)
expect "two guesses" [ "$(grep -o 'class="guess-first guess"' <<<"$notes" | wc -l)" -eq 2 ]
expect "no fold" has_not "$notes" "<details"
expect "the question before the form" grep -q 'Which of <em>two</em>?</p>.*<form class="guess-form chooses".*The reckoning.*The second' <<<"$(tr -d '\n' <<<"$notes")"
expect "the choices in alphabetical order" grep -q '<form class="guess-form chooses".*The first.*The second.*The reckoning' <<<"$(tr -d '\n' <<<"$notes")"
expect "the next section does not wait" grep -q 'Another reason.</p></div></div>' <<<"$(tr -d '\n' <<<"$notes" | sed 's/<!--[^>]*-->//g')"

test_case "an answer in a guess's own fold waits, and is what a guess is compared with"
run node --input-type=module -e "
import { withGuesses } from '$PWD/common/tools/site/markdown.mjs'
const complain = (anchor, what) => console.log(anchor, what)
const fold = '<details><summary><b>Guess.</b> How many are left?</summary>\n\n1,067 of them.\n\nA reason.\n\n</details>\n'
const told = (comment, question) => withGuesses('## A\n\nBefore.\n\n' + comment + question + '\nThe story.\n', '05_a', complain).replace(/\n+/g, ' | ').replace(/&quot;/g, '\'')
console.log(told('<!-- guess: # of -->\n', fold))
told('', fold)
told('<!-- guess: # were -->\n', fold)
told('<!-- guess\n= Many\n- Few -->\n', fold)
told('<!-- guess\n- Many | No.\n- Few | No.\n-->\n', fold)"
expect_status 0
expect_output "## A | Before. | **Guess.** How many are left? | <GuessFirst name=\"05_a#a\" asked=\"{'numbers':[{'value':'1067','unit':'of'}]}\"> | 1,067 of them. | A reason. | The story. | </GuessFirst> |"

test_case "a guess needs a number in its answer, or choices that say why they fail"
expect_output 'a no comment gives choices, or says where the number stands'
expect_output 'a "# were" is not in the answer'
expect_output 'a a choice behind - says why it fails, behind |'
expect_output 'a needs two choices or more, one of them behind ='

test_case "a guess that the site would not make wait is told"
run node --input-type=module -e "
import { withGuesses } from '$PWD/common/tools/site/markdown.mjs'
const complain = (anchor, what) => console.log(anchor, what)
const guess = '**Guess.** How many are left?\n\n**The number.** 67.\n\n'
withGuesses('# T\n\n' + guess + '## A\n', '05_a', complain)
withGuesses('# T\n\n## A\n\n' + guess + guess, '05_a', complain)"
expect_output 't it stands before the first section'
expect_output 'a a section has one, with its answer'

test_case "a link to a term brings the term's sentence, and each exercise has a box to tick"
expect "the sentence" grep -q 'GLOSSARY.html#bank" data-term="One &quot;part&quot; of a \* b, so said." aria-description="One ' <<<"$notes"
expect "a box for the lesson" grep -q '<input type="checkbox">I have read this chapter' <<<"$notes"
labs=$(html $chapter/exercises/index.html)
expect "two boxes" [ "$(grep -o '<input type="checkbox">I have solved it' <<<"$labs" | wc -l)" -eq 2 ]

test_case "a lesson ends in a quiz of exam questions, whose numbers are read in the exam's answers"
expect "three questions" [ "$(grep -o 'class="guess-first quiz"' <<<"$notes" | wc -l)" -eq 3 ]
expect "two numbers of the first" grep -q 'ask for?</p>.*<form class="guess-form".*>sectors</label>.*>bytes</label>.*4, and so on' <<<"$(tr -d '\n' <<<"$notes")"
expect "a reason" has "$(cat "$built"/assets/chapters_03*.js)" 'It is <code>so</code>.'
for change in 's/: # bytes/: # words/' 's/^3:/7:/' 's/^= So/= So, and so on/' '/^2:/,99d'; do
  cp "$tree/chapters/quiz.md" "$scratch/quiz.md"
  sed -i.bak "$change" "$tree/chapters/quiz.md"
  site site BASE=/course/
  expect_failure
  expect_output "chapters/quiz.md: "
  case $change in *So*) expect_output "the right choice is the longest in 2 of 2 questions" ;; esac
  cp "$scratch/quiz.md" "$tree/chapters/quiz.md"
done
expect_output "chapters/quiz.md: chapter 03 has 1 questions, and needs 3 to 5"

test_case "a lab's page has the starter with its TODO, what the check looks at, a report, and a way to the solution"
expect "the line to change" grep -q '<span class="line highlighted">.*int.*TODO' <<<"$labs"
flat=$(tr -d '\n' <<<"$labs")
for item in '<strong>it adds</strong>' 'your prediction: <code>kLoads</code>' 'loads: once each' 'one after the other' 'stores, in all: each once' 'the sum: of &quot;all&quot;'; do
  expect "the item $item" has "$flat" "<li>$item</li>"
done
expect "no comment" has_not "$flat" "not this"
expect "the report" grep -q 'What the check says of the starter.*make lab CH=03 EX=1.*chapter 03, exercise 1: One' <<<"$flat"
expect "the solution" has "$flat" 'href="./solutions/ex1_a.cu.html">the solution</a>'

test_case "a picture that can be explored stands inside of what explores it, others stand alone"
expect "one of the two" grep -q '<explore-figure src="/course/[^"]*/accesses.json"><p><img [^>]*alt="Four loads"[^>]*></p></explore-figure>' <<<"$(tr -d '\n' <<<"$notes" | sed 's/<!--[^>]*-->//g')"
expect "no other" [ "$(grep -o '<explore-figure' <<<"$notes" | wc -l)" -eq 1 ]
expect "what X-ray traced" has "$(html $chapter/figures/accesses.json)" '"label":"x[4 * t]","state":{"offset":0,"stride":4}'

test_case "for a phone a figure of two panels has a view of each, and a table of words the name of each cell's column"
flat=$(tr -d '\n' <<<"$notes")
expect "three views" [ "$(grep -o 'halves[^"]*.svg#svgView(viewBox(' <<<"$notes" | wc -l)" -eq 3 ]
expect "all to one scale" grep -q 'style="width:66.7%;aspect-ratio:20/30;".*style="width:100.0%;aspect-ratio:30/10;"' <<<"$flat"
expect "one table of words" [ "$(grep -o 'class="cards"' <<<"$notes" | wc -l)" -eq 1 ]
expect "the column's name" has "$notes" '<td data-column="who finds it">the race detector</td>'
expect "room for words beside numbers" has "$(html index.html)" '<td class="words">one block; more</td>'

test_case "a term of the glossary is a heading with the term's own anchor"
expect "the heading" grep -q '<h3 id="warp" class="term" tabindex="-1">warp <a class="header-anchor" href="#warp"' <<<"$(html chapters/GLOSSARY.html)"

test_case "a page of measurements says once what is the same in every row"
expect "the device apart" has "$(html $chapter/results/h200.csv.html)" "<dt>device</dt><dd>H200</dd>"
expect "a quoted field" has "$(html $chapter/results/h200.csv.html)" "<td>b, c</td>"

test_case "a lab says how long it takes, and notes and labs lead to each other"
expect "the sum of the minutes" has "$(html $chapter/exercises/index.html)" "About 35 minutes"
expect "the way on" has "$(html $chapter/index.html)" "Labs of 03"

test_case "what is built is not built again"
before=$(ls -i "$built/index.html")
site site BASE=/course/
expect_status 0
expect "the same file" [ "$(ls -i "$built/index.html")" = "$before" ]
expect_no_output "pages"

test_case "a changed page is built again"
echo "More." >>"$tree/README.md"
site site BASE=/course/
expect_status 0
expect "the new word" has "$(html index.html)" "More."

test_case "make serve shows the site, and a second one says that the port is taken"
node -e 'require("net").createServer().listen(0, "127.0.0.1", function () { console.log(this.address().port); this.close() })' >"$scratch/port"
port=$(cat "$scratch/port")
(cd "$tree" && exec common/tools/site/site.sh serve /course/ "$port") >"$scratch/served" 2>&1 &
server=$!
fetch() { node -e 'fetch(process.argv[1]).then(async (r) => console.log(r.status, (await r.text()).includes(process.argv[2])), () => process.exit(1))' "$@"; }
for _ in 1 2 3 4 5 6 7 8 9 10; do fetch "http://127.0.0.1:$port/" x >/dev/null 2>&1 && break; sleep 1; done
expect "its address" has "$(cat "$scratch/served")" "http://localhost:$port/course/"
run fetch "http://127.0.0.1:$port/course/$chapter/" "Coalesced threads"
expect_output "200 true"
run fetch "http://127.0.0.1:$port/course/gone.html" "no such page"
expect_output "404"
run fetch "http://127.0.0.1:$port/course/..%2f..%2f..%2fREADME.md" "A course"
expect_output "404"
complains_in_a_line 2 "PORT=$port: taken" site_sh serve /course/ "$port"
kill $server

# ---- what needs Chromium -------------------------------------------------------------------------

common/tools/setup/chromium.sh >/dev/null || skip_rest "the look at the site" "Chromium is not here"

[ "$(id -u)" -ne 0 ] || export CHROME_NO_SANDBOX=1
# The look at what is built, as site.sh takes it.
look() {
  run env -C "$tree" CHROME_PATH="$(common/tools/setup/chromium.sh)" node build/site-src/check.mjs build/slides/packages build/site /course/
}
test_case "a good site passes the look"
answers 0 "nothing wrong" look

# A style sheet and a script with one thing broken each: what the look says of the guesses.
style=$(ls "$built"/assets/style.*.css)
theme=$(grep -rlF 'localStorage.setItem(' "$built"/assets --include=*.js | xargs grep -lF 'Factor between')
cp "$style" "$scratch/style.css"
cp "$theme" "$scratch/theme.js"
# guess_says STYLE FROM TO TEXT...: with that style, and TO for FROM in the script
guess_says() {
  { cat "$scratch/style.css"; echo "$1"; } >"$style"
  sed "s#$2#$3#g" "$scratch/theme.js" >"$theme"
  look
  expect_status 1
  for text in "${@:4}"; do expect_output "$chapter/index.html: $text"; done
}
test_case "the look finds a result that does not wait for its guess"
guess_says '.guess-first .waits { display: block !important }' - - "before a guess: the result of guess 1, 2, 3, 4, 5 shows"
test_case "the look finds what paper and readers without scripts do not get"
guess_says '.guess-first:not(.shown) .waits { display: none !important }' - - \
  "without scripts: the result of guess 1, 2, 3, 4, 5 is hidden" "on paper: the result of guess 1, 2 is hidden"
test_case "the look finds an explanation of the quiz on paper that nobody has asked for"
guess_says '.guess-first .waits { display: block !important }' - - "on paper: the result of guess 3, 4, 5 shows"
test_case "the look finds a guess that the keyboard or the pointer cannot make"
guess_says '.guess-compare { visibility: hidden } .guess-show { pointer-events: none }' - - \
  "the keyboard leads from a guess to guess-show," "after a click: the result of guess 1 is hidden"
test_case "the look finds a guess that the browser does not keep, or that says nothing beside its result"
guess_says '' 'localStorage.setItem(' 'String(' "after the page was loaded again: the result of guess 1, 2, 3, 4, 5 is hidden"
guess_says '' 'Your guess' 'A guess' "beside the first result stands A guess: 2"
test_case "the look finds a number that words reveal, and choices that do not say why they fail"
guess_says '' 'Number.isNaN(' 'Number.isInteger(' "guess 1: words reveal a number"
guess_says '' '"guess-others"' '"gone"' "guess 2: of 2 choices 0 say why they fail"
test_case "the look finds a lab without its code"
lab=$built/$chapter/exercises/index.html
cp "$lab" "$scratch/lab.html"
sed -i.bak 's/class="starter"/class="gone"/; s/class="looks-at"/class="gone"/; s/not yet/passed/' "$lab"
look
expect_status 1
expect_output "$chapter/exercises/index.html: \"1. One\" has no starter with a TODO, no list of what the check looks at, no report of the check"
cp "$scratch/lab.html" "$lab"
test_case "the look finds a box that the browser does not keep, and a sidebar that does not tell"
guess_says '' 'localStorage.setItem(' 'String('
expect_output "after the page was loaded again the box is not ticked"
guess_says '' 'dataset.done=' 'dataset.gone='
expect_output "after the space bar the sidebar says nothing"
test_case "the look finds a term without its sentence"
guess_says '.term-box { left: -1px !important }' 'focusin' 'focusless' "at 1280 px, with the focus on it, the sentence of the first term does not show" \
  "under the pointer the sentence of the first term leaves the window"
test_case "the look finds what a phone cuts off without saying so"
guess_says '.more-right { mask-image: none !important } .cards td::before { content: none !important } .panels { display: none !important }' - - \
  "no shade says that it goes on: <pre>" "a cell of a card does not name its column: <td>" "the panels of a figure do not stand below each other: Two halves"
test_case "the look finds code that sticks out of its fold, a name that is broken within a word, and a number that has become a list"
page=$built/$chapter/lab_notes.html
cp "$page" "$scratch/lab_notes.html"
sed -i.bak 's#<p>End.</p>#<pre style="margin: 0 -30px">x</pre><table><tr><td style="width: 40px; display: block"><code style="white-space: normal">a_long_name</code></td></tr></table><ol start="20"><li>So.</li></ol>#' "$page"
look
expect_status 1
for text in "sticks out of its fold: <pre> x" "a name is broken: <code> a_long_name" "a number with a dot has become a list: 20. So."; do
  expect_output "$chapter/lab_notes.html: $text"
done
cp "$scratch/lab_notes.html" "$page"
test_case "the look waits where frames come late, as on a busy machine, before it says that a page does not tell where it goes on"
late='new (class extends ResizeObserver { constructor(f) { super((all) => requestAnimationFrame(() => f(all))) } })('
cp "$scratch/style.css" "$style"
{ echo 'window.requestAnimationFrame = (f) => setTimeout(f, 200);'; sed "s#new ResizeObserver(#$late#" "$scratch/theme.js"; } >"$theme"
expect "late observers" grep -q 'class extends ResizeObserver' "$theme"
answers 0 "nothing wrong" look
cp "$scratch/theme.js" "$theme"
test_case "the look finds a card that is wider than the screen"
guess_says '.cards td { width: 900px !important }' - - "a card is wider than the screen: <td>"
test_case "the look finds a missing page that leads nowhere"
sed 's#missing vp-doc#other#' "$scratch/theme.js" >"$theme"
look
expect_output "404.html: does not lead into the course"
cp "$scratch/theme.js" "$theme"

element=$(ls "$built"/assets/chunks/element.*.js)
cp "$element" "$scratch/element.js"
test_case "the look finds a figure that neither keyboard nor pointer changes"
sed 's/\.oninput=/.ignored=/; s/\.onclick=/.ignored=/' "$scratch/element.js" >"$element"
guess_says '' - - "figure 1: slider 1 by keyboard changes nothing" "figure 1: slider 2 by pointer changes nothing" \
  "figure 1: button 4 by pointer changes nothing"
test_case "the look finds a figure that does not play, and one that does not stop"
for pair in 'setInterval("Play" does not go on' 'clearInterval("Pause" does not stop it'; do
  sed "s/\.figure\.plays/.figure.plays||'stride'/g; s/${pair%%(*}(/String(/" "$scratch/element.js" >"$element"
  guess_says '' - - "figure 1: ${pair#*(}"
done
test_case "the look finds a figure that sticks out, and focus that does not show"
sed 's/outline:2px[^;]*/outline:none/; s/viewBox/ignored/; s/width: *100%;*}/width:5000px}/' "$scratch/element.js" >"$element"
guess_says '' - - "figure 1: slider 1 has no outline when it has the focus" "figure 1: sticks out: <"
test_case "the look finds a figure without its picture on paper"
cp "$scratch/element.js" "$element"
guess_says 'explore-figure img { display: none }' - - "a figure's picture is hidden on paper" "a figure's picture is hidden without scripts"
cp "$scratch/style.css" "$style"

# break_page HTML: puts it at the end of the chapter's page
break_page() { printf '%s\n' "$1" >>"$built/$chapter/index.html"; }
test_case "the look finds a search that has a lesson before the glossary"
cp -R "$built" "$scratch/whole"
find "$built" -name '*.html' -exec sed -i.bak 's/? 10 : 1/? 0.01 : 1/' {} +
look
expect_output 'search: "warp" does not find its entry in the glossary first'
rm -rf "$built" && cp -R "$scratch/whole" "$built"

# What the first page loads, and shows first.
{ printf '<!-- '; head -c 500000 /dev/urandom | base64; echo '--><style>.actions { margin-top: 900px !important }</style><main><span class="bar">-</span>'
  echo '<pre>make run CH=05</pre><p><strong>Never seen a kernel?</strong></p></main>'; } >>"$built/index.html"
break_page '<p><a href="/course/gone.html">broken link</a> <a href="/course/#gone">broken anchor</a></p>'
break_page '<main><img src="/course/gone.png" alt="there"><img src="/course/favicon.svg"></main>'
break_page '<script>console.error("a complaint"); setTimeout(() => missing(), 0)</script>'
break_page '<script src="http://elsewhere.invalid/x.js"></script>'
break_page '<div style="width: 3000px">a wide box</div>'
break_page '<p style="color: #888; background: #fff">faint words</p><!-- &lt;!-- --><p>&lt;!-- left over</p>'
sed -i.bak 's/[Cc]oalesced/forgotten/g' "$built"/assets/chunks/*localSearchIndex*.js
look
looked=$output
looked_status=$status
# finds SENTENCE TEXT...
finds() {
  test_case "the look finds $1"
  shift
  output=$looked
  status=$looked_status
  expect_status 1
  for text in "$@"; do expect_output "$text"; done
}
page=$chapter/index.html
finds "a link that leads nowhere" "$page: link \"broken link\" leads nowhere: /course/gone.html"
finds "an anchor that is not there" "$page: link \"broken anchor\" leads to no heading: /course/#gone"
finds "an image that is not there" "$page: image /course/gone.png does not load" "/course/gone.png: status 404"
finds "an image without a text alternative" "$page: image /course/favicon.svg has no text alternative"
finds "a message on the console" "$page: the console says: a complaint"
finds "a script that fails" "$page: a script fails: missing is not defined"
finds "a request to another host" "$page: asks another host: http://elsewhere.invalid/x.js"
finds "a page that scrolls sideways, at each width" "$page: scrolls sideways: <div> a wide box (1280 px, 390 px, 1920 px, 768 px)"
finds "text without contrast, light and dark" "$page: \"faint words\" has a contrast of 3.5" \
  "(1280 px light, 1280 px dark, 1920 px light, 1920 px dark, 768 px light, 768 px dark, 390 px light, 390 px dark)"
finds "a comment that shows" "$page: a comment shows"
finds "a search that does not find" "\"coalesced\" does not find chapters/03_"
finds "a first page that is heavy" "index.html: loads more than 300 kB at first"
finds "a first page that does not say where to begin, and answers a guess" "index.html: where to begin is below the first screen" \
  "index.html: the first command is not for chapter 03" "index.html: \"Never seen a kernel?\" is below the first screen" \
  "index.html: a picture stands outside of a fold"
test_case "the look says one line for each thing that is wrong"
output=$looked
expect "17 lines" [ "$(lines_in "$looked")" -eq 17 ]
