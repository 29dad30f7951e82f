// SPDX-License-Identifier: MIT
// Small pictures that a deck draws with characters, all in one language: a lane is a square, a warp a strip of them, a
// block a frame, a multiprocessor a box.
//
//   ```picture Two blocks on a multiprocessor: of each warp every second lane works
//   SM 0:   {[#.#.#.#.] [#.#.#.#.]}
//           {[#.#.#.#.] [#.#.#.#.]}
//                 |          v
//   ```
//
// What follows `picture` in its line is the text alternative. A line may begin with a label and a colon; the cells of all
// lines begin one space after the longest. Each character is a cell of one size:
//   #  a lane that works         .  one that is idle        !  one that does harm     a letter or digit: a value
//   [] a block's frame and {} a multiprocessor's box, over all following lines that have it in the same two columns
//   <> a card with a text, <bad: > a red one. All cards of a picture are equally wide, since their width says nothing:
//      where a length is a number, ```bars draws it (bars.mjs)
//   |  ^ v > / \ and Unicode's arrows, with nothing on either side

import { escapeHtml } from '../site/markdown.mjs'
import { bars } from './bars.mjs'

const CELL = 24
const ROW = 28
const LETTER = 10.5 // how wide one is, on the average
const WIDEST = 1160 // pixels: what a slide holds
const ARROWS = { '^': '↑', v: '↓', '|': '│', '/': '╱', '\\': '╲', '>': '→' }
const EDGES = [
  { open: '{', close: '}', kind: 'box', inset: 4, reach: 18 },
  { open: '[', close: ']', kind: 'frame', inset: 8, reach: 14 },
]
const FILLS = { '#': 'works', '.': 'idle', '!': 'harm' }

/** { label, content, cards: [{ from, to, text, kind }], cells: [[column, character]] } of each line. Throws what is wrong. */
function parsed(source) {
  const lines = source.trimEnd().split('\n')
  const labels = lines.map((line) => /^(\w[^:<[{]*):(?: |$)/.exec(line)?.[1] ?? '')
  const longest = Math.max(...labels.map((label) => label.length))
  const start = longest ? longest + 2 : 0
  return lines.map((line, i) => {
    const label = labels[i]
    if (line.slice(label && label.length + 1, start).trim()) throw new Error(`"${line.trim()}": cells begin behind the longest label`)
    const content = line.slice(start)
    const cards = [...content.matchAll(/<(?:(bad):)?([^<>]*)>/g)].map((m) => ({ from: m.index, to: m.index + m[0].length, kind: m[1] ?? 'works', text: m[2].trim() }))
    const cells = [...content].map((character, column) => [column, character])
    return { label, content, cards, cells: cells.filter(([at, c]) => c !== ' ' && !cards.some((card) => at >= card.from && at < card.to)) }
  })
}

/** Frames of `open` and `close`: { left, right, top, bottom }, one for lines below each other with the same two columns. */
function frames(rows, open, close) {
  const found = []
  rows.forEach((row, y) => {
    const stack = []
    for (const [x, character] of row.cells) {
      if (character === open) stack.push(x)
      if (character !== close) continue
      const left = stack.pop()
      if (left === undefined) throw new Error(`"${row.content.trim()}": ${close} without ${open}`)
      const above = found.find((f) => f.left === left && f.right === x && f.bottom === y - 1)
      if (above) above.bottom = y
      else found.push({ left, right: x, top: y, bottom: y })
    }
    if (stack.length > 0) throw new Error(`"${row.content.trim()}": ${open} without ${close}`)
  })
  return found
}

const text = (x, y, words, kind, anchor = 'middle') => `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escapeHtml(words)}</text>`

/** One cell that is no edge, with its middle at (x, y). */
function drawn(character, isAlone, x, y) {
  const arrow = isAlone && (ARROWS[character] ?? (/[\u2190-\u21ff]/.test(character) && character))
  if (arrow) return text(x, y + 8, arrow, 'arrow')
  if (!/[\w#.!]/.test(character)) throw new Error(`${character} means nothing in a picture`)
  const value = /\w/.test(character) ? text(x, y + 6, character, 'value') : ''
  return `<rect class="${FILLS[character] ?? 'value'}" x="${x - 11}" y="${y - 11}" width="22" height="22" rx="2"/>${value}`
}

/** The picture as SVG. */
export function picture(source, alternative) {
  if (!alternative) throw new Error('a picture without a text alternative, which stands behind the word picture')
  const rows = parsed(source)
  const widths = new Set(rows.flatMap((row) => row.cards).map((card) => card.to - card.from))
  if (widths.size > 1) throw new Error(`cards of ${[...widths].sort((a, b) => a - b).join(' and ')} columns: all of a picture have one width; lengths are drawn by bars`)
  const longest = Math.max(...rows.map((row) => row.label.length))
  const left = longest && longest * LETTER + 16
  const across = (column) => left + column * CELL
  const down = (row) => row * ROW + 20
  const parts = EDGES.flatMap(({ open, close, kind, inset, reach }) =>
    frames(rows, open, close).map((f) => {
      const [from, to] = [across(f.left) + inset, across(f.right + 1) - inset]
      return `<rect class="${kind}" x="${from}" y="${down(f.top) - reach}" width="${to - from}" height="${down(f.bottom) - down(f.top) + 2 * reach}" rx="4"/>`
    }),
  )
  rows.forEach((row, y) => {
    if (row.label) parts.push(text(0, down(y) + 7, row.label, 'label', 'start'))
    for (const card of row.cards) {
      const [from, width] = [across(card.from) + 1, (card.to - card.from) * CELL - 2]
      parts.push(`<rect class="card ${card.kind}" x="${from}" y="${down(y) - 13}" width="${width}" height="26" rx="3"/>`)
      parts.push(text(from + width / 2, down(y) + 6, card.text, card.kind))
    }
    const stands = (column) => /[\w#.!]/.test(row.content[column] ?? ' ')
    for (const [x, character] of row.cells) {
      if (!'[]{}'.includes(character)) parts.push(drawn(character, !stands(x - 1) && !stands(x + 1), across(x) + CELL / 2, down(y)))
    }
  })
  const size = [across(Math.max(...rows.map((row) => row.content.length))), down(rows.length - 1) + 20]
  if (size[0] > WIDEST) throw new Error(`a picture of ${size[0]} pixels, a slide holds ${WIDEST}`)
  return `<svg class="picture" role="img" aria-label="${escapeHtml(alternative)}" viewBox="0 0 ${size.join(' ')}" width="${size[0]}" height="${size[1]}">${parts.join('')}</svg>\n`
}

const LANGUAGES = { picture, bars }

/** What a fence with this first line draws, as SVG; undefined where it is code. Throws what is wrong with it. */
export function drawing(info, source) {
  const [, language, alternative] = /^(picture|bars)\b\s*(.*)$/.exec(info) ?? []
  return language && LANGUAGES[language](source, alternative)
}

/** A plugin of markdown-it: draws fences whose first word is picture or bars. */
export function drawsPictures(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, ...rest) => drawing(tokens[index].info, tokens[index].content) ?? fence(tokens, index, ...rest)
}
