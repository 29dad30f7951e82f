// SPDX-License-Identifier: MIT
// Bars of a deck: a time line, or anything else in which a length is a number.
//
//   ```bars Two warps at a barrier: the first stores for two steps, and waits for three until the second has stored
//   measure: 1 step
//   warp 0:  <2 store><wait 3 at the barrier><1 add>
//   warp 1:  <5 store><1 add>
//   ```
//
// What follows `bars` in its line is the text alternative. A bar is <KIND NUMBER TEXT>: its length is the number, whatever
// the text is. Without a kind it is blue; `wait` is grey, `bad` red, `gap` empty. The text may be missing, and <1 madd>*7 are
// seven bars. Bars of a line follow each other; an empty line is room. A number may be a placeholder of notes.py. `measure`
// is drawn below, and says what a length counts. A line `width: 600` is for a picture that has less than the slide.
// All bars of a picture have one scale, in which every text fits. check.mjs measures them in Chromium.

import { escapeHtml } from '../site/markdown.mjs'

const [ROW, HEIGHT] = [28, 26]
const LETTER = 11.2 // how wide one is at most, on the average
const ROOM = 16 // for both ends of a text
const LIKED = 640 // pixels of the longest line, if texts and slide leave a choice
const WIDEST = 1160 // pixels: what a slide holds
const BAR = /<(?:(wait|bad|gap) +)?(\d[\d,]*(?:\.\d+)?)(?: +([^<>]*))?>(?:\*(\d+))?/y

const widthOf = (words) => words.length * LETTER

/** The bars of a line behind its label: [{ kind, length, from, words }]. Throws what is wrong. */
function barsOf(line) {
  const found = []
  let from = 0
  for (let at = 0; at < line.length; at = BAR.lastIndex) {
    BAR.lastIndex = at
    const [, kind = 'works', number, words = '', times = 1] = BAR.exec(line) ?? []
    const length = Number(number?.replaceAll(',', ''))
    if (!(length > 0)) throw new Error(`"${line.slice(at)}": no bar; one is <3 text>, and its length is the number`)
    for (let i = 0; i < times; ++i, from += length) found.push({ kind, length, from, words: words.trim() })
  }
  return found
}

/** { rows: [{ label, bars }], measure: { length, words }, width } */
function parsed(source) {
  const rows = source.trimEnd().split('\n').map((line) => {
    const [, label = '', rest] = /^(?:(\w[^:<]*):)?\s*(.*?)\s*$/.exec(line)
    return { label, rest }
  })
  const taken = (label) => rows.splice(rows.findIndex((row) => row.label === label) >>> 0, 1)[0]?.rest ?? ''
  const width = Number(taken('width') || WIDEST)
  const [, length, words] = /^([\d,.]+) +(.+)$/.exec(taken('measure')) ?? []
  const units = Number(length?.replaceAll(',', ''))
  if (!(units > 0)) throw new Error('bars without a measure, which says what a length counts, as in "measure: 1 step"')
  return { width, rows: rows.map(({ label, rest }) => ({ label, bars: barsOf(rest) })), measure: { length: units, words: `${length} ${words}` } }
}

/** The bars as SVG. */
export function bars(source, alternative) {
  if (!alternative) throw new Error('bars without a text alternative, which stands behind the word bars')
  const { rows, measure, width } = parsed(source)
  const all = rows.flatMap((row) => row.bars)
  const longest = Math.max(...all.map((bar) => bar.from + bar.length))
  const labels = Math.max(...rows.map((row) => widthOf(row.label)))
  const left = labels && labels + ROOM
  const most = (width - left) / longest
  const needs = (bar) => (bar.words ? (widthOf(bar.words) + ROOM) / bar.length : 0)
  const tightest = all.reduce((a, b) => (needs(a) > needs(b) ? a : b))
  if (needs(tightest) > most) throw new Error(`"${tightest.words}" does not fit into ${tightest.length} of ${longest}`)
  const unit = Math.min(most, Math.max(needs(tightest), LIKED / longest))
  const isThin = ({ length }) => length * unit < 6
  const rect = (kind, { from, length }, y, height) =>
    `<rect class="bar ${kind}${isThin({ length }) ? ' thin' : ''}" data-from="${from}" data-length="${length}" x="${left + from * unit}" y="${y}" width="${length * unit}" height="${height}"/>`
  const text = (x, y, words, kind, anchor) => `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escapeHtml(words)}</text>`
  const parts = rows.flatMap((row, i) => {
    const y = i * ROW + 1
    // A thin bar comes last, above the edges of its neighbours.
    const shown = row.bars.filter((bar) => bar.kind !== 'gap').sort((a, b) => isThin(a) - isThin(b))
    const drawn = shown.map((bar) => {
      const words = bar.words && text(left + (bar.from + bar.length / 2) * unit, y + 19, bar.words, `in-bar ${bar.kind}`, 'middle')
      return rect(bar.kind, bar, y, HEIGHT) + words
    })
    return row.label ? [text(0, y + 20, row.label, 'label', 'start'), ...drawn] : drawn
  })
  const [y, end] = [rows.length * ROW + 7, left + measure.length * unit]
  parts.push(rect('measure', { from: 0, length: measure.length }, y, 4), text(end + 10, y + 9, measure.words, 'label', 'start'))
  const size = [Math.max(left + longest * unit, end + 10 + widthOf(measure.words)), y + 15]
  return `<svg class="picture bars" role="img" aria-label="${escapeHtml(alternative)}" viewBox="0 0 ${size.join(' ')}" width="${size[0]}" height="${size[1]}">${parts.join('')}</svg>\n`
}
