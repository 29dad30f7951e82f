// SPDX-License-Identifier: MIT
// Copies decks into a folder in the form that Marp needs: without the markers of notes.py, which Marp
// would take for speaker notes. Every line keeps its number. Says what a deck lacks, one line each.
//
//   node prepare.mjs FOLDER DECK.md...
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const MARKER = /<!--\s*(?:(?:code|table|pivot|value|output|headline|labs|minutes|plan):[^]*?|end\s*)-->/g
const IMAGE = /!\[([^\]]*)\]\(([^)\s]+)\)/g

// The text in pieces, fenced code apart: in code nothing is a marker.
function pieces(text) {
  const found = []
  let fence = null
  for (const line of text.split(/(?<=\n)/)) {
    const opens = line.match(/^\s*(`{3,})/)
    const isCode = fence !== null || opens !== null
    if (found.length === 0 || found.at(-1).isCode !== isCode) found.push({ isCode, text: '' })
    found.at(-1).text += line
    if (fence === null && opens) fence = opens[1]
    else if (fence !== null && line.trim() === fence) fence = null
  }
  return found
}

const withoutMarkers = (text) =>
  pieces(text)
    .map((piece) => (piece.isCode ? piece.text : piece.text.replace(MARKER, (marker) => marker.replace(/[^\n]/g, ''))))
    .join('')

// A figure that is not there, or that Marp would make a background of, where no check sees it.
function problems(deck, text) {
  const found = []
  let line = 1
  for (const piece of pieces(text)) {
    if (!piece.isCode) {
      for (const image of piece.text.matchAll(IMAGE)) {
        const where = `${deck}:${line + piece.text.slice(0, image.index).split('\n').length - 1}`
        if (/^bg\b/.test(image[1])) found.push(`${where}: no background images: they have no text alternative`)
        else if (!/^[a-z]+:/.test(image[2]) && !existsSync(join(dirname(deck), decodeURI(image[2])))) {
          found.push(`${where}: no such figure: ${image[2]}`)
        }
      }
    }
    line += piece.text.split('\n').length - 1
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
