// SPDX-License-Identifier: MIT
// How a block brings tiles or slices to shared memory and reads them, step by step: an order, not time. Made of
// results/steps.json, whose format stands in common/tools/measure/xray_traces.py.

import { codeAndNote, inSteps, number } from './words.mjs'

const [LEFT, TOP, ROW] = [100, 6, 18] // pixels: names beside the rows, above them, a row
export const GLOBAL = 'global memory'

/** The bytes of regions, as [first, bytes] in rows of an array. */
const runsOf = (regions) => regions.flatMap(([first, bytes, distance, count]) => Array.from({ length: count }, (_, i) => [first + i * distance, bytes]))
const bytesOf = (regions) => regions.reduce((sum, [, bytes, , count]) => sum + bytes * count, 0)

/**
 * The steps of a kernel: { code, row, does, regions }. `row` is null at a barrier, and `does` is reads, writes or, where an
 * asynchronous copy writes, copies. Of shared memory `partOf(name, first)` says { row, begins }.
 */
export function stepsOf({ files, source, steps }, partOf) {
  return steps.map(([step, line, space, operation, name, regions], i) => {
    const [file, number] = Array.isArray(line) ? line : [0, line]
    const is = { code: source[files[file]][number], row: null, does: '', regions: [] }
    if (operation === 'barrier') return is
    const begins = regions[0][0]
    const before = steps[i - 1]
    const arrives = operation === 'store' && before?.[3] === 'copy' && step - before[0] === 1
    const does = arrives ? 'copies' : operation === 'store' ? 'writes' : 'reads'
    if (space === 'global') return { ...is, row: GLOBAL, does, regions }
    const part = partOf(name, begins)
    return { ...is, row: part.row, does, regions: regions.map(([first, ...rest]) => [first - part.begins, ...rest]) }
  })
}

/** The first step that reads from shared memory what was not written before the last barrier; -1 if there is none. */
export function readTooEarly(steps) {
  const [written, fresh] = [new Map(), new Map()]
  const wordsOf = (regions) => runsOf(regions).flatMap(([first, bytes]) => Array.from({ length: bytes / 4 }, (_, i) => first + 4 * i))
  return steps.findIndex(({ row, does, regions }) => {
    if (row === GLOBAL) return false
    if (row === null) {
      for (const [name, words] of fresh) written.set(name, new Set([...(written.get(name) ?? []), ...words]))
      fresh.clear()
    } else if (does === 'reads') {
      return !wordsOf(regions).every((word) => written.get(row)?.has(word))
    } else {
      fresh.set(row, [...(fresh.get(row) ?? []), ...wordsOf(regions)])
      for (const word of fresh.get(row)) written.get(row)?.delete(word)
    }
    return false
  })
}

/** What a row does between barriers, as bars: { row, does, first, last }. */
function barsOf(steps) {
  const bars = []
  const open = new Map()
  steps.forEach(({ row, does }, i) => {
    if (row === null) open.clear()
    else if (open.get(row)?.does === does) open.get(row).last = i
    else {
      open.set(row, { row, does, first: i, last: i })
      bars.push(open.get(row))
    }
  })
  return bars
}

/** The step up to which a copy that begins at step i may be in flight: the last barrier before its row is read. */
function arrivesAt(steps, i) {
  const read = steps.findIndex(({ row, does }, j) => j > i && row === steps[i].row && does === 'reads')
  for (let j = read < 0 ? steps.length : read; j > i; j--) if (steps[j]?.row === null) return j
  return i
}

/** What a row holds at a step: the steps that wrote it since it was last read. */
function fillOf(steps, now, name) {
  const found = []
  for (let i = now; i >= 0; i--) {
    if (steps[i].row !== name) continue
    if (steps[i].does !== 'reads') found.push(i)
    else if (found.length > 0) break
  }
  return found
}

/** What the slider stops at: a bar of a row, with all its steps, or a barrier. */
export function stopsOf({ kernel }, { kernels }) {
  const { steps } = kernels[kernel]
  const barriers = steps.flatMap(({ row }, i) => (row === null ? [{ row, first: i, last: i }] : []))
  return [...barsOf(steps), ...barriers].sort((a, b) => a.first - b.first)
}

/** Why a box is empty, in a few words. */
const emptyBecause = (steps, now, name) => (steps.slice(0, now + 1).some(({ row }) => row === name) ? 'has been read' : 'not written yet')

const SAYS = {
  reads: (row, bytes) => `${bytes} bytes of ${row} are read`,
  writes: (row, bytes) => `${bytes} bytes of ${row} are written`,
  copies: (row, bytes) => `a copy of ${bytes} bytes to ${row} begins`,
}

export const pipeline = {
  ...inSteps(LEFT, stopsOf),
  legend: ({ kernels }) => [
    ['used', 'written'],
    ['odd', 'read'],
    ['moved', 'what shared memory holds'],
    ...(Object.values(kernels).some(({ steps }) => steps.some(({ does }) => does === 'copies')) ? [['coming', 'a copy that may still be under way']] : []),
    ['barrier', 'a barrier'],
  ],
  leaps(state, data) {
    const barriers = stopsOf(state, data).filter(({ row }) => row === null)
    return [{ label: 'Next barrier', to: (barriers.find(({ first }) => first > state.step) ?? barriers[0]).first }]
  },
  draw({ kernel, step }, { kernels }, width) {
    const { label, computes, codes, arrays, steps } = kernels[kernel]
    const stops = stopsOf({ kernel }, { kernels })
    const place = Math.max(stops.findLastIndex(({ first }) => first <= step), 0)
    const now = stops[place]
    const { first: begins, last } = now
    const during = steps.slice(begins, last + 1).filter(({ row, does }) => row === now.row && does === now.does)
    const names = [GLOBAL, ...arrays.map(({ row }) => row)]
    const wide = (width - LEFT) / steps.length
    const x = (i) => LEFT + i * wide
    const bar = (kind, row, first, last) =>
      `<rect class="${kind}" x="${x(first)}" y="${TOP + names.indexOf(row) * ROW + 3}" width="${(last + 1 - first) * wide}" height="${ROW - 6}"/>`
    const bottom = TOP + names.length * ROW
    let svg = names.map((name, i) => `<text x="0" y="${TOP + i * ROW + 13}">${name}</text>`).join('')
    for (const { row, does, first, last } of barsOf(steps)) {
      if (does === 'copies') svg += bar('moved', row, first, arrivesAt(steps, last))
      svg += bar(does === 'reads' ? 'odd' : 'used', row, first, last)
    }
    steps.forEach(({ row }, i) => {
      if (row === null) svg += `<path class="barrier" d="M${x(i + 0.5)} ${TOP}V${bottom}"/>`
    })
    svg += `<rect class="frame" x="${x(begins) - 1}" y="${TOP - 2}" width="${(last + 1 - begins) * wide + 2}" height="${bottom - TOP + 4}"/>`

    // The arrays of shared memory, drawn to one scale: what is in them, what this step writes or reads.
    let y = bottom + 8
    const scale = Math.min(4, width / Math.max(...arrays.map(({ parts }) => parts.reduce((sum, { pitch }) => sum + pitch / 4 + 8, 0))))
    const tall = arrays[0].parts[0].bytes / arrays[0].parts[0].pitch < 32 ? 2 * scale : scale
    const across = arrays.map(({ parts }) => parts.reduce((sum, { pitch }) => sum + (pitch / 4) * scale + 8, 0))
    let left = 0
    let high = 0
    arrays.forEach(({ row, parts }, i) => {
      if (left > 0 && left + across[i] > width + 8) [left, y, high] = [0, y + high, 0]
      svg += `<text x="${left}" y="${y + 12}">${row}</text>`
      for (const { begins, bytes, pitch } of parts) {
        const box = (kind, [first, size]) => {
          const at = first - begins
          if (at < 0 || at >= bytes) return ''
          const full = size > pitch - (at % pitch)
          const [w, h] = full ? [pitch, Math.ceil(size / pitch)] : [size, 1]
          const place = `x="${left + ((full ? 0 : at % pitch) / 4) * scale}" y="${y + 18 + Math.floor(at / pitch) * tall}"`
          return `<rect class="${kind}" ${place} width="${(w / 4) * scale}" height="${h * tall}"/>`
        }
        const boxes = (kind, regions) => runsOf(regions).map((run) => box(kind, run)).join('')
        svg += `<rect class="empty" x="${left}" y="${y + 18}" width="${(pitch / 4) * scale}" height="${(bytes / pitch) * tall}"/>`
        for (const s of fillOf(steps, last, row)) {
          svg += boxes(steps[s].does === 'copies' && arrivesAt(steps, s) > last ? 'coming' : 'moved', steps[s].regions)
        }
        if (now.row === row) svg += during.map(({ regions }) => boxes(now.does === 'reads' ? 'odd' : 'used', regions)).join('')
        else if (fillOf(steps, last, row).length === 0 && (pitch / 4) * scale > 96 && (bytes / pitch) * tall > 16) {
          svg += `<text class="note" x="${left + 6}" y="${y + 22 + ((bytes / pitch) * tall) / 2}">${emptyBecause(steps, last, row)}</text>`
        }
        left += (pitch / 4) * scale + 8
        high = Math.max(high, 24 + (bytes / pitch) * tall)
      }
    })
    const copies = steps.some(({ does }) => does === 'copies')
    const note = `A block that computes ${computes} elements of C. ${copies ? 'A grey row: a copy is under way, at most until that barrier. ' : ''}Steps are an order, not time.`
    const below = codeAndNote(codes[steps[begins].code], note, y + high + 4, width)
    const bytes = during.reduce((sum, { regions }) => sum + bytesOf(regions), 0)
    const does = now.row === null ? 'the threads of the block wait for each other' : SAYS[now.does](now.row, number(bytes))
    return { svg: svg + below.svg, height: below.height, says: `${label}, step ${place + 1} of ${stops.length}: ${does}.` }
  },
}
