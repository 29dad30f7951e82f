#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Decks are built, and the look in Chromium finds what it is there to find.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"
unset FORMAT DECK

root=$PWD
have_node() { command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; }
chromium=$(common/tools/setup/chromium.sh) || chromium=

# ---- what is asked for ---------------------------------------------------------------------------

test_case "a format that there is not is refused in one line"
complains_in_a_line 2 "FORMAT=gif: no such format; there are: html pdf png all" run common/tools/slides/slides.sh gif

test_case "a deck that there is not is refused in one line that lists the decks"
complains_in_a_line 2 "slides/11_nothing.md: no such deck; there are: 00_course" run common/tools/slides/slides.sh html 11_nothing
expect_output "05_shared_tree_reduction"

test_case "the opening deck is CH=00_course, to slides alone"
answers 0 "00_course" run make -n slides CH=00_course
answers fails "CH=00_course: no such chapter" run make -n list CH=00_course

test_case "the lock file names no registry"
run grep -c '"resolved"' slides/package-lock.json
expect "none" [ "$out" = 0 ]

# A PATH without node, chromium or a package manager that could install them.
bare=$scratch/bare
mkdir -p "$bare"
for name in bash dirname basename mkdir mktemp rm cmp cp mv sed grep id tail cat cut env head; do
  ln -s "$(command -v $name)" "$bare/$name"
done
test_case "without Node.js one line says what to do"
complains_in_a_line 2 "slides need node. Run: " run env -i PATH="$bare" HOME="$scratch" common/tools/slides/slides.sh html

if have_node; then
  test_case "without Chromium a PDF is refused in one line, before anything is built"
  ln -s "$(command -v node)" "$bare/node"
  ln -s "$(command -v npm)" "$bare/npm"
  if env -i PATH="$bare" common/tools/setup/chromium.sh >/dev/null; then
    skip "Chromium is found here without PATH"
  else
    complains_in_a_line 2 "slides as pdf need Chromium. Run: " \
      run env -i PATH="$bare" HOME="$scratch" common/tools/slides/slides.sh pdf
  fi

  test_case "an old Node.js is refused in one line"
  rm "$bare/node"
  printf '#!/usr/bin/env bash\necho v16.20.2\n' >"$bare/node"
  chmod +x "$bare/node"
  complains_in_a_line 2 "slides need Node.js 18 or newer, node is 16.20.2" \
    run env -i PATH="$bare" HOME="$scratch" common/tools/slides/slides.sh html
fi

# ---- a deck of our own, broken in one way after the other ----------------------------------------

# A house with one deck; tools and packages are the real ones.
house=$scratch/house
mkdir -p "$house/common" "$house/slides" "$house/build/slides" "$house/chapters/05_sum/figures"
ln -s "$root/common/tools" "$house/common/tools"
cp slides/theme.css slides/package.json slides/package-lock.json "$house/slides/"
deck=$house/slides/05_sum.md
cat >"$house/chapters/05_sum/figures/a.svg" <<'END'
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 4"><title>A</title><rect width="8" height="4"/></svg>
END

# slide TEXT [NOTES]
slide() {
  printf '\n---\n\n%s\n' "$1"
  if [ "${2-notes}" = notes ]; then
    printf '\n<!-- Two minutes. Say what is here, and ask why it is so. -->\n'
  else
    [ -z "$2" ] || printf '\n<!-- %s -->\n' "$2"
  fi
}
# drawn ALTERNATIVE LINE...: a picture of characters
drawn() { fence "picture $1" "${@:2}"; }
# fence INFO LINE...
fence() {
  printf '```%s\n' "$1"
  shift
  printf '%s\n' "$@" '```'
}
# write_deck SLIDE [NOTES]: two slides; the second is the given one
write_deck() {
  {
    printf -- '---\nmarp: true\ntheme: course\n---\n\n# One\n\n<!-- One minute. Good morning, this is the first of them. -->\n'
    slide "$@"
  } >"$deck"
}
in_house() { (cd "$house" && common/tools/slides/slides.sh "$@"); }

have_node || skip_rest "decks are built" "node and npm are not here"
# The packages are installed once, for the real decks; where that cannot be done, there is nothing to test.
cmp -s slides/package-lock.json build/slides/packages/installed.json ||
  common/tools/slides/slides.sh html 00_course >/dev/null 2>&1 ||
  skip_rest "decks are built" "npm cannot fetch what slides/package-lock.json names"
ln -s "$root/build/slides/packages" "$house/build/slides/packages"

test_case "a figure that is not there is named by file and line, and nothing is built"
write_deck '![a](../chapters/05_sum/figures/b.svg)'
answers 1 "slides/05_sum.md:12: no such figure: ../chapters/05_sum/figures/b.svg" run in_house html
expect "no page" [ ! -e "$house/build/slides/05_sum.html" ]

test_case "a background image is refused: it has no text alternative"
write_deck '![bg right](../chapters/05_sum/figures/a.svg)'
answers 1 "slides/05_sum.md:12: no background images" run in_house html

test_case "a picture of characters: squares, frames over several lines, cards, arrows, labels, and its text alternative"
write_deck "$(drawn 'Two warps "A" & B' 'SM 0:   {[#.!a] v}' '        {[#.!b] /}' 'memory: <read    ><bad:old >')"
run in_house html
expect_status 0
# of CLASS: how many of the second slide's shapes have it
svg=$(grep -o '<svg class="picture"[^>]*aria-label="Two .*' "$house/build/slides/05_sum.html" | sed 's/<\/svg>.*//')
of() { grep -o "class=\"$1\"" <<<"$svg" | wc -l; }
expect "the alternative" has "$svg" 'aria-label="Two warps &quot;A&quot; &amp; B"'
expect "a frame, a box" [ "$(of frame) $(of box)" = "1 1" ]
expect "squares" [ "$(of works) $(of idle) $(of harm) $(of value)" = "3 2 2 4" ]
expect "cards" [ "$(of 'card works') $(of 'card bad')" = "1 1" ]
expect "arrows" [ "$(of arrow)" = 2 ]
expect "labels" [ "$(of label)" = 2 ]

test_case "a picture that is wrong is named by file and line, and nothing is built"
# refused WHY ALTERNATIVE LINE...
refused() {
  write_deck "$(drawn "${@:2}")"
  rm -f "$house/build/slides/05_sum.html"
  complains_in_a_line 1 "slides/05_sum.md:12: $1" run in_house html
  expect "no page" [ ! -e "$house/build/slides/05_sum.html" ]
}
refused 'a picture without a text alternative' '' '####'
refused '"[##": [ without ]' 'A warp' '[##'
refused '"##}": } without {' 'A warp' '##}'
refused '~ means nothing in a picture' 'A warp' '#~'
refused '"x: #": cells begin behind the longest label' 'Labels' 'a label: #' 'x: #'
refused 'cards of 6 and 9 columns: all of a picture have one width; lengths are drawn by bars' 'A memory' '<read><bad:old>'
refused 'a picture of 1176 pixels, a slide holds 1160' 'A strip' '#################################################'

test_case "a bar is as long as its number, whatever its kind and its text, at one scale for all of a picture"
mkdir -p "$house/chapters/05_sum/results"
printf 'version,us,rate\na,4,"1,250"\n' >"$house/chapters/05_sum/results/h200.csv"
write_deck "$(fence 'bars Two warps' 'measure: 2 steps' 'warp 0: <1 a><wait 3 at the barrier><bad 1.5 old>' 'warp 1: <gap 2><2>*2' '' 'memory: <{{=a us}} b>')"
run in_house html
expect_status 0
svg=$(grep -o '<svg class="picture bars"[^>]*aria-label="Two .*' "$house/build/slides/05_sum.html" | sed 's/<\/svg>.*//')
# lengths: kind, where it begins and how long it is, in the unit of the first bar, of each bar
lengths=$(grep -o '<rect class="bar [^>]*' <<<"$svg" | sed 's/.*"bar \([^"]*\)".* x="\([^"]*\)".* width="\([^"]*\)".*/\1 \2 \3/' |
  awk 'NR == 1 { left = $2; unit = $3 } { printf "%s %.3g %.3g, ", $1, ($2 - left) / unit, $3 / unit }')
expect "their lengths: $lengths" \
  [ "$lengths" = "works 0 1, wait 1 3, bad 4 1.5, works 2 2, works 4 2, works 0 4, measure 0 2, " ]

test_case "bars that are wrong are named by file and line"
# no_bars WHY ALTERNATIVE LINE...
no_bars() {
  write_deck "$(fence "bars${2:+ $2}" "${@:3}")"
  complains_in_a_line 1 "slides/05_sum.md:12: $1" run in_house html
}
no_bars 'bars without a text alternative' '' 'measure: 1 step' '<1>'
no_bars 'bars without a measure' 'A warp' 'warp 0: <1 a>'
no_bars '"<wait: >": no bar' 'A warp' 'measure: 1 step' 'warp 0: <1 a><wait: >'
no_bars '"<0 a>": no bar' 'A warp' 'measure: 1 step' 'warp 0: <0 a>'
no_bars '"at the barrier" does not fit into 1 of 20' 'A warp' 'measure: 1 step' 'warp 0: <19 a><1 at the barrier>'

test_case "a listing closes what it opens, opens what it closes, and begins at the left"
# no_listing WHY LINE...
no_listing() {
  write_deck "$(fence cuda "${@:2}")"
  complains_in_a_line 1 "slides/05_sum.md:12: a listing $1" run in_house html
}
no_listing 'begins a block that it does not end' 'for (;;) {' '  f("}");  // }'
no_listing 'ends a block that it does not begin' '  f();' '}' 'g();'
no_listing 'whose lines are all indented' '#pragma unroll' '  for (;;) f();'
write_deck "$(fence cuda '#pragma unroll' 'for (;;) {' "  f('{');" '}')"
run in_house html
expect_status 0

test_case "a page holds its figures and numbers, has CUDA's words highlighted, and shows no markers as notes"
printf 'version,speedup\na,4\n' >"$house/chapters/05_sum/results/h200.csv"
# shellcheck disable=SC2016
write_deck '<!-- code: kernel -->
```cuda
__global__ void kernel(int* x) { x[threadIdx.x] = atomicAdd(x, 1); __syncthreads(); }
```
<!-- end -->

It is {{=a x .1}} times ![w:200 a figure](../chapters/05_sum/figures/a.svg)'
run in_house html
[ -n "$chromium" ] || expect_output "not looked at: Chromium is not here"
expect_status 0
page=$(cat "$house/build/slides/05_sum.html")
expect "the figure inside" has "$page" 'src="data:image/svg+xml;base64,'
expect "__global__ a keyword" has "$page" '<span class="hljs-keyword">__global__</span>'
expect "threadIdx built in" has "$page" '<span class="hljs-built_in">threadIdx</span>'
expect "atomicAdd built in" has "$page" '<span class="hljs-built_in">atomicAdd</span>'
expect "__syncthreads built in" has "$page" '<span class="hljs-built_in">__syncthreads</span>'
expect "the value" has "$page" 'It is 4.0 times'
expect "no marker" has_not "$page" 'code: kernel'
expect "the notes" has "$page" 'Say what is here, and ask why'

test_case "a placeholder that names nothing is found by file and line, and nothing is built"
write_deck '{{=b x}}'
complains_in_a_line 1 "{{=b x}}: no b in results/h200.csv; there are a" run in_house html

if [ -z "$chromium" ]; then
  skip_rest "the look in Chromium finds what is wrong" "Chromium is not here"
fi

test_case "a deck with nothing wrong passes the look"
# shellcheck disable=SC2016  # the dollars are mathematics
write_deck '# Two

![w:200 a figure](../chapters/05_sum/figures/a.svg)

$a^2 + b^2$'
answers 0 "2 slides of 1 deck looked at in Chromium: nothing wrong" run in_house html

test_case "a picture that the site lets a reader explore opens so, and one that only says so is found"
loads=chapters/03_coalesced_threads
mkdir -p "$house/$loads/figures" "$house/$loads/results"
cp "$loads/figures/accesses.svg" "$house/$loads/figures/"
cp "$loads"/results/*.csv "$house/$loads/results/"
write_deck "![w:200 a figure](../$loads/figures/accesses.svg)"
run in_house html
expect_status 0
page=$(cat "$house/build/slides/05_sum.html")
expect "one" [ "$(grep -o ' data-explore="' <<<"$page" | wc -l)" -eq 1 ]
expect "its modules inside" has "$page" '<script type="module" src="data:text/javascript;base64,'
expect "the last slide names authors and licences" [ "$(grep -c 'The CUDA Tutorial authors.*CC BY 4.0.*MIT License' <<<"$page")" -eq 1 ]

test_case "an address of a repository loses what is private in it"
run node --input-type=module -e "
import { pageOf } from '$root/common/tools/slides/origin.mjs'
console.log(process.argv.slice(1).map(pageOf).join(' '))" https://me:secret@host.org/o/n.git git@host.org:o/n.git ssh://git@host.org:22/o/n /srv/n.git
expect "three pages, and none for a folder: $out" [ "$out" = "https://host.org/o/n https://host.org/o/n https://host.org/o/n " ]

test_case "a deck in which nothing shows that a figure can be pressed is found"
write_deck "<style>.explore { visibility: hidden }</style>

![w:200 a figure](../$loads/figures/accesses.svg)"
answers 1 "slide 2: nothing shows that a picture can be explored" run in_house html

test_case "a picture that only says that it can be explored is found"
write_deck '<img src="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%2240%22 height=%2240%22/%3E" alt="a figure" data-explore="none" tabindex="0" style="width: 40px; height: 40px; align-self: start">'
complains_in_a_line 1 "slide 2: a picture cannot be explored" run in_house html

# Fourteen slides, each wrong in its own way; the first is right. finds SENTENCE, REASON: the next slide's line.
{
  printf -- '---\nmarp: true\ntheme: course\n---\n\n# One\n\n<!-- One minute. Good morning, this is the first of them. -->\n'
  slide "$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf -- '- point %s\n' "$i"; done)"
  slide "\`\`\`cuda
int a_line_of_more_than_eighty_four_columns = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12;
\`\`\`"
  slide '<div class="note" style="height: 600px">

a

</div>'
  slide '<img src="data:image/svg+xml;base64,AAAA" alt="broken">'
  slide '![w:200](../chapters/05_sum/figures/a.svg)'
  slide '<p style="color: #999">grey</p>'
  slide '<p style="opacity: 0.4">pale</p>'
  slide '<p style="background: linear-gradient(#fff, #000)">which?</p>'
  slide '<p style="font-size: 12px">small</p>'
  slide "$(printf '<div style="margin-left: 900px">\n\n'; drawn 'A strip' '####################'; printf '\n</div>')"
  slide '<svg class="picture bars" width="300" height="60" role="img" aria-label="Bars"><rect class="bar" data-from="0" data-length="1" width="100" height="20"/><rect class="bar" data-from="1" data-length="2" x="100" width="100" height="20"/><rect class="bar" width="100" height="20" y="30"/></svg>'
  slide '![a figure](../chapters/05_sum/figures/a.svg)'
  slide '# No notes' ''
  slide '# Short notes' 'todo'
} >"$deck"
run in_house html
number=1
finds() {
  test_case "the look finds $1"
  number=$((number + 1))
  expect_status 1
  expect "one line for slide $number" [ "$(grep -c "^slides/05_sum.md:[0-9]*: slide $number: " "$scratch/err")" -eq "${3:-1}" ]
  expect "the reason: $2" grep -q "^slides/05_sum.md:[0-9]*: slide $number: .*$2" "$scratch/err"
}
finds "too much text for a slide" '"point 16" runs [0-9]* px past the bottom margin'
finds "code too wide for its box" "is cut off: [0-9]* px too wide for its box" 2
finds "a box that runs into the margin" "past the bottom margin"
finds "an image that does not load" "an image does not load"
finds "an image without a text alternative" "an image without a text alternative"
finds "text of too little contrast" "has a contrast of 2.8: at least 3"
finds "text that transparency makes too pale" "has a contrast of"
finds "text on an image, whose contrast nobody knows" "its contrast is unknown"
finds "text that the back row cannot read" "is 12 px high: at least 16"
finds "a picture that runs into the margin" "px past the right margin"
finds "a bar whose length is not its number" "a bar of 2 is 100.0 px long, and 1 is 100.0 px" 2
finds "a figure that does not fill the slide that it has for itself" "the class figure is missing"
finds "a slide without speaker notes" "no speaker notes"
finds "notes that say nothing" "speaker notes of 4 characters"

test_case "what is wrong is named by the line of the deck"
expect "line 10 for slide 2" grep -q '^slides/05_sum.md:10: slide 2: ' "$scratch/err"

test_case "the look finds a message on the console and a script that fails"
write_deck '<script>console.error("a message"); nonesuch()</script>'
answers 1 "the console says: a message" run in_house html
expect_output "a script fails: nonesuch is not defined"

test_case "the look finds requests to anywhere, also of files beside the page"
write_deck '<img src="https://example.com/a.png" alt="a"> <img src="beside.png" alt="a">'
answers 1 "asks for https://example.com/a.png" run in_house html
expect_output "asks for file://"

test_case "PDF and PNG are built, one picture per slide"
write_deck '# Two'
run in_house pdf
expect_status 0
expect "a PDF" [ "$(head -c 5 "$house/build/slides/05_sum.pdf")" = "%PDF-" ]
run in_house png
expect_status 0
expect "2 pictures" [ "$(find "$house/build/slides/05_sum" -name '*.png' | wc -l)" -eq 2 ]
expect "nothing left over" [ -z "$(find "$house/build/slides" -name 'new.*')" ]

# ---- handouts --------------------------------------------------------------------------------------

# make_handout: of the house's chapter, whose lesson and exam questions are the ones given
make_handout() { run env -C "$house" common/tools/slides/handout.sh 05_sum; }
# exam COUNT: that many questions
exam() {
  printf '# Questions\n\n## 05 Sum\n'
  for number in $(seq "$1"); do printf '\n%s. Why %s?\n\n   > Because of %s.\n' "$number" "$number" "$number"; done
}
cat >"$house/chapters/05_sum/README.md" <<'END'
# 05 · Sum

## The question

How fast is a sum? See [there](x.md).

## One

`a` becomes `b`.

<details><summary><b>Guess.</b> How many times as fast?</summary>

3.07<!--=a x--> times.

Because it is shorter.

</details>

## Two

<details><summary><b>Guess.</b> How much more than 3.07, and than 512?</summary>

257.

Half of it, and nobody knows why.

</details>

## Three

`c` becomes `d`:

```cuda
d;
```

<details><summary><b>Guess.</b> How many are left?</summary>

421<!--=b x--> of them.

A count says so.

</details>

The story goes on.

## Four

<details><summary><b>Guess.</b> How do you count?</summary>

One by one:

```text
1

2
```

So it takes long.

</details>

![A square that is wider than high](figures/a.svg)

## What to keep

| version | what limits it |
|---|---|
| `a` | the memory |
END
exam 5 >"$house/chapters/exam_questions.md"

test_case "a handout asks without answers, and its key has what was measured and the answers"
make_handout
expect_status 0
expect_one_line
pages=$house/build/handout
expect "each names authors and licences" [ "$(grep -l 'The CUDA Tutorial authors.*CC BY 4.0.*MIT License' "$pages"/*.html | wc -l)" -eq 4 ]
output=$(cat "$pages/05_predictions.html")
expect_output "How many times as fast?"
expect_output "How much more than ____, and than 512?"
expect_output "<code>c</code> becomes <code>d</code>:"
expect_output "How many are left?"
for answer in 3.07 257 421 "A count" "goes on" Half shorter '<a '; do expect_no_output "$answer"; done
output=$(cat "$pages/05_questions.html")
expect_output "Why 5?"
expect_no_output "Because of"
output=$(cat "$pages/05_summary.html")
expect_output "<p>3.07 times.</p>"
expect_output "<p>257.</p>"
expect_output "<p>421 of them.</p>"
expect_no_output "A count"
expect_output "How fast is a sum? See there."
expect_output "<em>How many times as fast?</em>"
expect_output '<figure><img src="data:image/svg+xml;base64,'
expect_output "<figcaption>A square that is wider than high.</figcaption>"
expect "what a colon announces, too" has "$(tr '\n' ' ' <<<"$output")" "<p>One by one:</p> <pre><code class=\"language-text\">1  2 </code></pre>"
expect_no_output "So it takes long"
expect_output "<td>the memory</td>"
output=$(cat "$pages/05_key.html")
for answer in 3.07 257 421 "A count" Half shorter "Because of 5."; do expect_output "$answer"; done
expect_no_output "goes on"
if [ -n "$chromium" ]; then expect "PDF" [ "$(head -c 5 "$pages/05_key.pdf")" = "%PDF-" ]; fi

test_case "a handout has five exam questions"
exam 4 >"$house/chapters/exam_questions.md"
rm -r "$pages"
complains_in_a_line 1 "chapters/exam_questions.md: chapter 05 has 4 questions, 4 of them with an answer: a handout has five" make_handout
expect "nothing left over" [ -z "$(find "$house/build" -name 'handout*')" ]

test_case "a summary that takes more than one page is refused"
if [ -z "$chromium" ]; then
  skip "Chromium is not here"
else
  exam 5 >"$house/chapters/exam_questions.md"
  for row in $(seq 60); do echo "| $row | the memory |"; done >>"$house/chapters/05_sum/README.md"
  make_handout
  expect_status 1
  expect_output "pages: a summary has one"
fi

test_case "every chapter has its handouts, of the real lessons, and the site leaves the exam questions out"
run common/tools/slides/handout.sh 00_first_kernel 05_shared_tree_reduction
expect_status 0
output=$(cat build/handout/05_key.html)
expect_output "0.304 ms"
run node --input-type=module -e "
import { findChapters, findPages } from '$root/common/tools/site/pages.mjs'
console.log([...findPages('.', findChapters('.')).pages.keys()].join(' '))"
expect_status 0
expect_output "chapters/GLOSSARY.md"
expect_no_output "exam_questions"
