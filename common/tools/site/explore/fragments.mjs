// SPDX-License-Identifier: MIT
// A tensor core's tile: which lane holds which element of A, B and D, as the instructions gave them; and where the rows of a
// tile lie in the banks that one ldmatrix asks, with and without a swizzle.

import { LANES, LINE, WORD, upTo } from './events.mjs'
import { codeAndNote, number, plural } from './words.mjs'

// ---- who holds what -------------------------------------------------------------------------------------

const SIZES = { a: [16, 16], b: [16, 8], d: [16, 8] } // rows and columns
const TITLES = { a: 'A', b: 'B', d: 'D += A B' }
const GAP = 14 // pixels: between matrices
const TITLE = 18
const MOST = 22 // a cell

/** What each lane holds, from the rows of fragments.csv: { a, b, d: [[row, column, register], ..], names: [row, column] }. */
export function lanesOfFragments(rows) {
  const lanes = upTo(0, LANES - 1).map(() => ({ a: [], b: [], d: [] }))
  for (const { operand, lane, register, row, column } of rows) {
    const place = [Number(row), Number(column)]
    if (operand === 'names') lanes[lane].names = place
    else lanes[lane][operand].push([...place, Number(register)])
  }
  for (const [operand, [high, wide]] of Object.entries(SIZES)) {
    const held = new Set(lanes.flatMap((lane) => lane[operand].map(([row, column]) => `${row} ${column}`)))
    const count = lanes.reduce((sum, lane) => sum + lane[operand].length, 0)
    if (held.size !== high * wide || count !== high * wide) throw new Error(`fragments.csv: ${held.size} elements of ${operand} in ${count} places`)
  }
  return lanes
}

/** Where the matrices stand: { cell, places: { a: [left, top], .. }, height }: side by side, or A above the others. */
function layout(width) {
  const beside = Object.values(SIZES).reduce((sum, [, wide]) => sum + wide, 0)
  const isWide = width >= 560
  const cell = Math.min(MOST, isWide ? (width - 2 * GAP) / beside : (width - GAP) / SIZES.a[1])
  const [wideA, wideB, high] = [SIZES.a[1] * cell, SIZES.b[1] * cell, SIZES.a[0] * cell]
  if (isWide) return { cell, places: { a: [0, TITLE], b: [wideA + GAP, TITLE], d: [wideA + wideB + 2 * GAP, TITLE] }, height: TITLE + high + 4 }
  const below = TITLE + high + 2 * TITLE
  return { cell, places: { a: [0, TITLE], b: [0, below], d: [wideB + GAP, below] }, height: below + high + 4 }
}

/** The lanes that hold elements of which wanted(row, column) is true. */
const holdersOf = (lanes, operand, wanted) => upTo(0, LANES - 1).filter((lane) => lanes[lane][operand].some(([row, column]) => wanted(row, column)))

const listed = (values) => [...new Set(values)].join(' and ')

export const fragments = {
  plays: 'lane',
  legend: () => [
    ['used', 'what this lane holds, by the names of its registers; elsewhere the number of the lane that does'],
    ['moved', 'what its four sums are made of'],
    ['odd', 'the 16 bytes of A whose address it gives ldmatrix'],
  ],
  controls: () => [{ name: 'lane', label: 'Lane', values: upTo(0, LANES - 1), show: (v) => v }],
  /** Where the pointer presses: the lane that holds that element. */
  press({ x, y }, { lane }, { lanes }, width) {
    const { cell, places } = layout(width)
    for (const [operand, [left, top]] of Object.entries(places)) {
      const [row, column] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)]
      const found = holdersOf(lanes, operand, (r, c) => r === row && c === column)
      if (found.length > 0) return { lane: found[0] }
    }
    return { lane }
  },
  draw({ lane }, { lanes }, width) {
    const { cell, places, height } = layout(width)
    const mine = lanes[lane]
    const [rows, columns] = [0, 1].map((i) => new Set(mine.d.map((place) => place[i])))
    const needs = { a: (row) => rows.has(row), b: (_, column) => columns.has(column), d: () => false }
    let svg = ''
    for (const [operand, [left, top]] of Object.entries(places)) {
      const [high, wide] = SIZES[operand]
      const lines = [...upTo(0, high).map((i) => `M${left} ${top + i * cell}h${wide * cell}`), ...upTo(0, wide).map((i) => `M${left + i * cell} ${top}v${high * cell}`)]
      svg += `<text x="${left}" y="${top - 6}">${TITLES[operand]}</text><path class="grid" d="${lines.join('')}"/>`
      lanes.forEach((held, holder) => {
        for (const [row, column, register] of held[operand]) {
          const [x, y] = [left + column * cell, top + row * cell]
          const kind = holder === lane ? 'used' : needs[operand](row, column) ? 'moved' : 'note'
          if (kind !== 'note') svg += `<rect class="${kind}" x="${x + 0.5}" y="${y + 0.5}" width="${cell - 1}" height="${cell - 1}"/>`
          svg += `<text class="in ${kind}" x="${x + cell / 2}" y="${y + cell / 2 + 3.5}">${holder === lane ? `${operand}${register}` : holder}</text>`
        }
      })
    }
    const [row, column] = mine.names
    svg += `<path class="odd wide" d="M${places.a[0] + column * cell + 1} ${places.a[1] + row * cell}h${8 * cell - 2}v${cell}h${2 - 8 * cell}z"/>`
    const others = new Set([...holdersOf(lanes, 'a', needs.a), ...holdersOf(lanes, 'b', needs.b)])
    others.delete(lane)
    const says =
      `Lane ${lane} holds ${mine.a.length} elements of A, ${mine.b.length} of B and ${mine.d.length} sums. The sums are made of rows ${listed(rows)} of A and ` +
      `columns ${listed(columns)} of B, of which ${plural(others.size, 'other lane')} hold a part. To ldmatrix it names ` +
      `row ${row} of A, columns ${column} to ${column + 7}.`
    return { svg, height, says }
  },
}

// ---- where rows lie in the banks --------------------------------------------------------------------------

const PIECE = 16 // bytes
const ROWS = 8 // of a matrix that ldmatrix loads
const GROUPS = LINE / PIECE // of banks that a piece fills
export const ROW_BYTES = [64, 128, 256]
const [LEFT, HIGH, TALL] = [82, 18, 14] // pixels: names of lines, a line of memory, a row in a queue

/** Where a piece lies, in pieces: the kernels' place_of() in chapters/16_tensor_cores/experiments/fragments.cu. */
function placeOf({ bytes, swizzled }, row, piece) {
  const inRow = bytes / PIECE
  const [rowsInBanks, places] = [Math.max(GROUPS / inRow, 1), Math.min(inRow, GROUPS)]
  return row * inRow + (swizzled ? piece ^ Math.floor(row / rowsInBanks) % places : piece)
}

/** Where lane i's 16 bytes begin: row i % 16, piece i / 16. */
export const offsetsOfRows = (state) => upTo(0, LANES - 1).map((lane) => PIECE * placeOf(state, lane % 16, Math.floor(lane / 16)))

/** Which of the eight rows meet in each group of banks: [[row, ..], ..]. */
const queuesOf = (state, piece, first = 0) =>
  upTo(0, GROUPS - 1).map((group) => upTo(first, first + ROWS - 1).filter((row) => placeOf(state, row, piece) % GROUPS === group))

/** The wavefronts that a matrix of eight rows takes. */
export const wavefrontsOf = (state, piece, first) => Math.max(...queuesOf(state, piece, first).map(({ length }) => length))

const RULES = {
  false: () => 'place = piece',
  true: (bytes) => `place = piece ^ ${bytes < LINE ? `row / ${LINE / bytes} % ${bytes / PIECE}` : 'row % 8'}`,
}

export const swizzle = {
  plays: 'piece',
  legend: () => [['used', 'the piece of eight rows that is loaded now, as one matrix'], ['empty', 'another piece of these rows: row.piece']],
  controls: () => [
    { name: 'bytes', label: 'A row of the tile', values: ROW_BYTES, show: (v) => `${v} bytes, ${v / PIECE} pieces` },
    { name: 'piece', label: 'The piece that is loaded', values: ({ bytes }) => upTo(0, bytes / PIECE - 1), show: (v) => v },
  ],
  /** Where the pointer presses: the piece that lies there. */
  press({ x, y }, state, _, width) {
    const place = Math.floor((y - TITLE) / HIGH) * GROUPS + Math.floor(((x - LEFT) / (width - LEFT)) * GROUPS)
    const found = upTo(0, state.bytes / PIECE - 1).find((piece) => upTo(0, ROWS - 1).some((row) => placeOf(state, row, piece) === place))
    return { piece: found ?? state.piece }
  },
  draw(state, _, width) {
    const { bytes, swizzled, piece } = state
    const wide = (width - LEFT) / GROUPS
    const box = (kind, group, y, high, words) =>
      `<rect class="${kind}" x="${LEFT + group * wide + 1}" y="${y + 1}" width="${wide - 2}" height="${high - 2}"/>` +
      `<text class="${kind === 'empty' ? 'in note' : `in ${kind}`}" x="${LEFT + (group + 0.5) * wide}" y="${y + high / 2 + 3.5}">${words}</text>`
    let svg = '<text x="0" y="12">banks from</text>'
    for (const group of upTo(0, GROUPS - 1)) {
      svg += `<text class="in note" x="${LEFT + (group + 0.5) * wide}" y="12">${(group * PIECE) / WORD}</text>`
    }
    const top = TITLE
    for (const row of upTo(0, ROWS - 1)) {
      for (const p of upTo(0, bytes / PIECE - 1)) {
        const place = placeOf(state, row, p)
        svg += box(p === piece ? 'used' : 'empty', place % GROUPS, top + Math.floor(place / GROUPS) * HIGH, HIGH, `${row}.${p}`)
      }
    }
    const lines = (ROWS * bytes) / LINE
    for (const line of upTo(0, lines - 1)) svg += `<text x="0" y="${top + line * HIGH + 13}">byte ${number(line * LINE)}</text>`
    // Below each group of banks the rows that it has to deliver, one in each wavefront.
    const below = top + lines * HIGH + TITLE
    const queues = queuesOf(state, piece)
    queues.forEach((rows, group) => rows.forEach((row, i) => (svg += box('used', group, below + i * TALL, TALL, wide < 36 ? row : `row ${row}`))))
    const wavefronts = wavefrontsOf(state, piece)
    for (const i of upTo(0, wavefronts - 1)) svg += `<text x="0" y="${below + i * TALL + 11}">wavefront ${i + 1}</text>`
    const most = wavefrontsOf({ ...state, swizzled: false }, piece) // a swizzle leaves the drawing as high as it is
    const rule = codeAndNote(RULES[swizzled](bytes), 'A piece is 16 bytes, and the place one of four banks side by side.', below + most * TALL + 6, width)
    const met = queues.filter(({ length }) => length > 0).length
    const conflict = wavefronts > 1 ? `${plural(wavefronts, 'wavefront')} where one would do` : 'one wavefront, no conflict'
    const says =
      `Rows of ${bytes} bytes, ${swizzled ? 'swizzled' : 'as they come'}: the eight rows of piece ${piece} lie in ${met} of ${GROUPS} groups of banks: ${conflict}. ` +
      `An ldmatrix of four such matrices takes ${4 * wavefronts}.`
    return { svg: svg + rule.svg, height: rule.height, says }
  },
}
