#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A term that is used before it is explained is found, and what only looks like a use is none.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

needs_python "terms in the order of the chapters"

here=$PWD
first=chapters/01_first/README.md
second=chapters/02_second/README.md
mkdir -p "$scratch/tree/chapters/01_first" "$scratch/tree/chapters/02_second"
cd "$scratch/tree" || exit 1

terms() { run "$python" "$here/common" tools.checks.terms; }
# written FILE LINE...
written() { printf '%s\n' "${@:2}" >"$1"; }
# glossary ENTRY...: NAME|CHAPTER|COMMENT each, in the order of the alphabet
glossary() {
  local name chapter comment anchor
  printf '%s\n' "$@" | while IFS='|' read -r name chapter comment; do
    anchor=$(printf '%s' "$name" | tr ' ' '-')
    printf '<a id="%s"></a>**%s**: what it is. [%s](%s/README.md)%s\n\n' "$anchor" "$name" "${chapter%%_*}" "$chapter" \
      "${comment:+ <!-- $comment -->}"
  done >chapters/GLOSSARY.md
}
# complains TEXT...: the check fails, with these lines and no others
complains() {
  terms
  expect_status 1
  expect "$# complaints" [ "$(lines_in "$out")" -eq $# ]
  local text
  for text; do expect_output "$text"; done
}
content() {
  terms
  expect_status 0
  expect "nothing said" [ -z "$output" ]
}

glossary 'bank|02_second' 'grid|01_first'

test_case "a first use that is a link to the entry is right, in the chapter that explains it or before"
written $first 'A [grid](../GLOSSARY.md#grid) has blocks. Chapter 02 is about [banks](../GLOSSARY.md#bank).'
written $second 'A *bank* is narrow. A grid is not.'
content

test_case "a use in front of the explanation is found, with both places"
written $first 'A [grid](../GLOSSARY.md#grid) has blocks.' '' 'The banks are narrow.'
complains "$first:3: bank is used for the first time, and is explained in $second:1: link ../GLOSSARY.md#bank"

written $second 'A [bank](../GLOSSARY.md#bank) is narrow.'

test_case "so is one in the same chapter"
written $first 'Grids are large.' 'A [**grid**](../GLOSSARY.md#grid) has blocks.'
complains "$first:1: grid is used for the first time, and is explained in $first:2"

test_case "an explanation in bold that links nowhere is found, if it is the first use"
written $first 'A **grid** has blocks.'
complains "$first:1: grid is used for the first time: link ../GLOSSARY.md#grid"

test_case "a link to another entry, or elsewhere, is none"
written $first 'A [**grid**](grid.md), or [grid](../GLOSSARY.md#bank), has blocks.'
complains "$first:1: grid is used for the first time"

test_case "a term that its chapter never explains is found"
written $first 'A [grid](../GLOSSARY.md#grid) has blocks, and memory [banks](../GLOSSARY.md#bank).'
written $second 'All banks are narrow.'
complains "$second:1: bank is to be explained here"

test_case "code, filled regions, headings, captions and further reading are no uses, words that hold a term neither"
cat >$first <<'END'
# The grid

`grid` and gridlock ![A grid](grid.svg) <!-- a grid -->

```
grid
```

<!-- table: results/h200.csv columns="grid" -->
| grid |
<!-- end -->

The first [grid](../GLOSSARY.md#grid) of all, 1<!--=grid ms-->.

## Further reading

A book about grids and banks.
END
written $second 'A [bank](../GLOSSARY.md#bank).'
content

test_case "plurals, hyphens, line ends and capitals are uses"
glossary 'bank|02_second' 'cache line|02_second' 'index entry|02_second'
echo >$first
written $second 'Banks are narrow. Index' 'entries, and cache-lines, too.' '' 'A **bank**, an **index entry**, a **cache line**.'
complains "$second:1: bank is" "$second:1: index entry is" "$second:2: cache line is"

test_case "other forms count, phrases that are excluded do not, and the longer term has the word"
glossary 'memory|02_second' 'scope|02_second|also: scoped; but not: out of scope' 'shared memory|02_second' 'wave|02_second|only: whole wave'
written $first 'A wave, out of scope, in [shared memory](../GLOSSARY.md#shared-memory).'
written $second 'A scoped one. A **scope**, a [whole wave](../GLOSSARY.md#wave), *shared memory*, [memory](../GLOSSARY.md#memory).'
complains "$second:1: scope is used for the first time"

test_case "a capital in the middle is taken as it is written"
glossary 'stream|02_second'
written $first 'STREAM is a benchmark.'
written $second '[Streams](../GLOSSARY.md#stream) are queues.'
content

test_case "lab notes are read behind their lesson, and a lesson without any lab notes"
glossary 'bank|02_second' 'grid|01_first'
written chapters/01_first/lab_notes.md 'Here a [bank](../GLOSSARY.md#bank) is used first.'
written $first 'A [grid](../GLOSSARY.md#grid).'
written $second 'A *bank* is narrow.'
complains "$second:1: bank is used for the first time: link"
written $second '[Banks](../GLOSSARY.md#bank) are narrow.'
content
written chapters/01_first/lab_notes.md 'A bank, before anybody has said what that is.'
complains "chapters/01_first/lab_notes.md:1: bank is used for the first time"
rm chapters/01_first/lab_notes.md


test_case "entries out of order, with a wrong id, without a chapter or with an unknown word in the comment are found"
cat >chapters/GLOSSARY.md <<'END'
<a id="grid"></a>**grid**: what it is. [01](01_first/README.md)

<a id="bank"></a>**bank**: what it is. [02](02_second/README.md) <!-- sometimes: banks -->

<a id="the-lane"></a>**lane**: what it is. [01](01_first/README.md)

<a id="warp"></a>**warp**: what it is.
END
terms
expect_status 1
expect_output "GLOSSARY.md:3: bank stands behind grid: the order is that of the alphabet"
expect_output "GLOSSARY.md:3: bank: expected also:, only: or but not:, found sometimes:"
expect_output "GLOSSARY.md:5: lane: its id must be lane"
expect_output "GLOSSARY.md:7: warp: the chapter that explains it is missing"
