// SPDX-License-Identifier: MIT
// Copies decks into a folder in the form that Marp needs: without the markers of notes.py, which Marp
// would take for speaker notes. Every line keeps its number. Says what a deck lacks, one line each.
//
//   node prepare.mjs FOLDER DECK.md...
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { links, withComments } from '../site/markdown.mjs'
import { picture } from './pictures.mjs'

const MARKER = /<!--\s*(?:(?:code|table|pivot|value|output|headline|labs|minutes|plan):[^]*?|end\s*)-->/g

// A marker may stand within speaker notes, and then ends the first half of these.
const withoutMarkers = (text) =>
  withComments(text, (comment) => comment.replace(MARKER, (marker) => marker.replace(/[^\n]/g, '')))

// A figure that is not there, or that Marp would make a background of, where no check sees it.
function problems(deck, text) {
  const found = []
  for (const { target, line, image, alt, html } of links(text)) {
    if (!image || html) continue
    if (/^bg\b/.test(alt ?? '')) found.push(`${deck}:${line}: no background images: they have no text alternative`)
    else if (!/^[a-z]+:/.test(target) && !existsSync(join(dirname(deck), decodeURI(target)))) {
      found.push(`${deck}:${line}: no such figure: ${target}`)
    }
  }
  for (const { 1: alternative, 2: source, index } of text.matchAll(/^```picture\b *(.*)\n([^]*?)^```$/gm)) {
    try {
      picture(source, alternative)
    } catch ({ message }) {
      found.push(`${deck}:${text.slice(0, index).split('\n').length}: ${message}`)
    }
  }
  if (!/^---\n[^]*?^theme: course$[^]*?^---$/m.test(text)) found.push(`${deck}:1: the front matter must name the theme: course`)
  return found
}

const [folder, ...decks] = process.argv.slice(2)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
let status = 0
for (const deck of decks) {
  const text = readFileSync(deck, 'utf8')
  for (const problem of problems(deck, text)) {
    console.error(problem)
    status = 1
  }
  writeFileSync(join(folder, basename(deck)), withoutMarkers(text))
}
process.exit(status)
