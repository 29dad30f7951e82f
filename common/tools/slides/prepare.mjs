// SPDX-License-Identifier: MIT
// Copies decks into a folder in the form that Marp needs: with measured numbers in place of their keys, and without
// the markers of notes.py, which Marp would take for speaker notes. Every line keeps its number. Says what a deck lacks,
// one line each.
//
//   node prepare.mjs FOLDER DECK.md...
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { links, withComments } from '../site/markdown.mjs'
import { drawing } from './pictures.mjs'

const MARKER = /<!--\s*(?:(?:code|table|pivot|output|headline|labs|minutes|plan):[^]*?|end\s*)-->/g

// A marker may stand within speaker notes, and then ends the first half of these.
const withoutMarkers = (text) =>
  withComments(text, (comment) => comment.replace(MARKER, (marker) => marker.replace(/[^\n]/g, '')))

// What a class would stumble over in a listing: a block that begins or ends outside, and lines that all stand to the right.
function wrongWith(code) {
  const open = []
  for (const [brace] of code.replace(/\/\/.*|"(?:\\.|[^"\\])*"|'[{}]'/g, '').matchAll(/[{}]/g)) {
    if (brace === '{') open.push(brace)
    else if (!open.pop()) return 'a listing ends a block that it does not begin'
  }
  if (open.length > 0) return 'a listing begins a block that it does not end'
  const lines = code.split('\n').filter((line) => line.trim() && !line.startsWith('#'))
  return lines.length > 0 && lines.every((line) => line.startsWith(' ')) && 'a listing whose lines are all indented'
}

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
  for (const { 1: info, 2: source, index } of text.matchAll(/^```(\w.*)\n([^]*?)^```$/gm)) {
    try {
      drawing(info, source)
    } catch ({ message }) {
      found.push(`${deck}:${text.slice(0, index).split('\n').length}: ${message}`)
    }
  }
  for (const { 1: code, index } of text.matchAll(/^```(?:cuda|cpp)\n([^]*?)^```$/gm)) {
    const wrong = wrongWith(code)
    if (wrong) found.push(`${deck}:${text.slice(0, index).split('\n').length}: ${wrong}`)
  }
  if (!/^---\n[^]*?^theme: course$[^]*?^---$/m.test(text)) found.push(`${deck}:1: the front matter must name the theme: course`)
  return found
}

const [folder, ...decks] = process.argv.slice(2)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
// notes.py looks the numbers up, and says which keys name nothing.
const tools = fileURLToPath(new URL('..', import.meta.url))
const fill = ['--run', 'tools.notes.notes', '--fill', folder, ...decks]
let { status } = spawnSync(join(tools, 'setup/python.sh'), fill, { stdio: ['ignore', process.stderr, process.stderr] })
for (const deck of status === 2 ? [] : decks) {
  const copy = join(folder, basename(deck))
  const text = readFileSync(copy, 'utf8')
  for (const problem of problems(deck, text)) {
    console.error(problem)
    status = 1
  }
  writeFileSync(copy, withoutMarkers(text))
}
process.exit(status)
