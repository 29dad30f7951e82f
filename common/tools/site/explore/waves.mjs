// SPDX-License-Identifier: MIT
// Blocks over multiprocessors: those of a launch over time, as they were measured, with the loads that they have in flight;
// and the tiles of a product in waves, beside its measured time.

import { upTo } from './events.mjs'
import { number, plural } from './words.mjs'

// ---- measured blocks, moment by moment ------------------------------------------------------------------

const MOMENTS = 40
const COLUMNS = 33 // of multiprocessors, of which an H200 has four times as many
const HIGH = 120 // pixels: the plot of loads in flight
const [LEFT, TOP] = [8, 20]

/** Blocks as [multiprocessor, start, end] in nanoseconds, with their place there: { blocks: [[index, place, start, end]], places, multiprocessors, end }. */
export function blocksOf(stored) {
  const names = [...new Set(stored.map(([sm]) => sm))].sort((a, b) => a - b)
  const free = new Map(names.map((name) => [name, []])) // when each place is free again
  const blocks = [...stored].sort((a, b) => a[1] - b[1]).map(([sm, start, end]) => {
    const ends = free.get(sm)
    const found = ends.findIndex((end) => end <= start)
    const place = found < 0 ? ends.length : found
    ends[place] = end
    return [names.indexOf(sm), place, start, end]
  })
  return { blocks, multiprocessors: names.length, places: Math.max(...[...free.values()].map((ends) => ends.length)), end: Math.max(...stored.map(([, , end]) => end)) }
}

const momentsOf = ({ end }) => upTo(0, MOMENTS - 1).map((i) => Math.round((i * end) / MOMENTS))
const runningAt = ({ blocks }, time) => blocks.filter(([, , start, end]) => start <= time && time < end)
const inMB = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`

export const blocks = {
  plays: 'time',
  legend: () => [['used', 'a place of a multiprocessor where a block runs'], ['empty', 'an empty place']],
  controls: (data) => [{ name: 'time', label: 'Time since the first block began', values: momentsOf(data), show: (v) => `${number(v / 1000)} µs` }],
  press({ x }, _, data, width) {
    const at = ((x - LEFT) / (width - LEFT)) * data.end
    return { time: momentsOf(data).reduce((best, time) => (Math.abs(time - at) < Math.abs(best - at) ? time : best)) }
  },
  draw({ time }, data, width) {
    const { multiprocessors, places, threads, bytes, needed, device, end } = data
    const now = runningAt(data, time)
    const cell = width / COLUMNS
    const [wide, high] = [0.86 * cell, Math.min(0.4 * cell, 8)]
    const pitch = places * (high + 1) + 5
    const box = (kind, sm, place) =>
      `<rect class="${kind}" x="${(sm % COLUMNS) * cell}" y="${TOP + Math.floor(sm / COLUMNS) * pitch + place * (high + 1)}" width="${wide}" height="${high}"/>`
    const taken = new Set(now.map(([sm, place]) => `${sm} ${place}`))
    let svg = `<text x="0" y="12">${multiprocessors} multiprocessors, ${plural(places, 'place')} in each</text>`
    for (const sm of upTo(0, multiprocessors - 1)) {
      for (const place of upTo(0, places - 1)) svg += box(taken.has(`${sm} ${place}`) ? 'used' : 'empty', sm, place)
    }
    // Bytes in flight over time, a step for each moment.
    const top = TOP + Math.ceil(multiprocessors / COLUMNS) * pitch + 26
    const most = 1.15 * needed
    const [x, y] = [(t) => LEFT + (t / end) * (width - LEFT - 1), (b) => top + (1 - b / most) * HIGH]
    const flight = (t) => runningAt(data, t).length * threads * bytes
    const steps = upTo(0, 4 * MOMENTS - 1).map((i) => [(i * end) / (4 * MOMENTS), flight((i * end) / (4 * MOMENTS))])
    svg += `<path class="even" d="M${steps.map(([t, b]) => `${x(t)} ${y(b)}H${x(t + end / (4 * MOMENTS))}`).join('L')}"/>`
    svg += `<path class="odd dashed" d="M${LEFT} ${y(needed)}H${width}"/>`
    svg += `<text class="note" x="${LEFT + 4}" y="${y(needed) - 5}">a plain read has ${inMB(needed)} in flight</text>`
    svg += `<text class="note" x="${LEFT + 4}" y="${top + HIGH - 8}">in flight here, at most</text>`
    svg += `<path class="grid" d="M${LEFT} ${top + HIGH}H${width}"/><path class="barrier" d="M${x(time)} ${top}V${top + HIGH}"/>`
    svg += `<text x="${LEFT}" y="${top + HIGH + 16}">0</text><text class="end" x="${width}" y="${top + HIGH + 16}">${number(end / 1000)} µs</text>`
    const says =
      `At ${number(time / 1000)} µs a block runs in ${now.length} of ${multiprocessors * places} places. Each thread has a load of ${bytes} bytes in flight: ` +
      `${plural(now.length * threads, 'load')} together at most, ${inMB(flight(time))}. Measured on an ${device}.`
    return { svg, height: top + HIGH + 22, says }
  },
}

// ---- tiles in waves -------------------------------------------------------------------------------------

const MARGIN = 52 // pixels: names of waves
const UNIT = 34 // a tile's time
const BAR = 36

/** Whether stored waves are those of the stored tiles, else an error. */
export function wavesHold({ tiles, multiprocessors, rows }, stored) {
  for (const [columns, count] of Object.entries(tiles)) {
    if (count % rows !== 0 || Math.ceil(count / multiprocessors) !== stored[columns]) throw new Error(`${columns} columns: ${count} tiles are not ${stored[columns]} waves`)
  }
}

/** The most columns whose tiles are one wave. */
const fullWave = ({ columns, tiles, multiprocessors }) => columns.findLast((c) => tiles[c] <= multiprocessors)

export const waves = {
  plays: 'columns',
  legend: () => [['used', 'a multiprocessor computes a tile, or its share'], ['moved', 'it has none, and waits for the others']],
  leaps({ columns }, data) {
    const count = (c) => Math.ceil(data.tiles[c] / data.multiprocessors)
    const steps = data.columns.filter((c, i) => i > 0 && count(c) > count(data.columns[i - 1]))
    return [{ label: 'Next wave begins', to: steps.find((c) => c > columns) ?? data.columns[0] }]
  },
  controls: ({ columns }) => [{ name: 'columns', label: 'Columns of C', values: columns, show: number }],
  draw({ columns, even }, data, width) {
    const { tiles, multiprocessors, whole, device } = data
    const count = tiles[columns]
    const paid = Math.ceil(count / multiprocessors)
    const most = Math.ceil(tiles[data.columns.at(-1)] / multiprocessors)
    const wide = (width - MARGIN) / multiprocessors
    let svg = `<text x="${MARGIN}" y="12">${multiprocessors} multiprocessors, time downwards</text>`
    for (const wave of upTo(0, most - 1)) {
      if (wave < paid) svg += `<text x="0" y="${TOP + (wave + 0.5) * UNIT + 4}">wave ${wave + 1}</text>`
      for (const sm of upTo(0, multiprocessors - 1)) {
        const share = even ? count / multiprocessors - wave : wave * multiprocessors + sm < count ? 1 : 0
        const filled = Math.min(Math.max(share, 0), 1)
        const at = `x="${MARGIN + sm * wide}" width="${Math.max(0.8 * wide, 1)}"`
        if (filled > 0) svg += `<rect class="used" ${at} y="${TOP + wave * UNIT}" height="${filled * (UNIT - 3)}"/>`
        else if (!even && wave < paid) svg += `<rect class="moved" ${at} y="${TOP + wave * UNIT}" height="${UNIT - 3}"/>`
      }
    }
    const full = fullWave(data)
    const times = (even ? data.even : whole)[columns] / whole[full]
    const longest = most * 1.1
    const y = TOP + most * UNIT + 14
    const bar = (place, name, share) =>
      `<text x="0" y="${y + place * BAR}">${name}</text><rect class="empty" x="0.5" y="${y + place * BAR + 6}" width="${width - 1}" height="10"/>
      <rect class="used" x="0.5" y="${y + place * BAR + 6}" width="${(Math.min(share, longest) / longest) * (width - 1)}" height="10"/>`
    svg += bar(0, `work, in full waves: ${(count / multiprocessors).toFixed(2)}`, count / multiprocessors)
    svg += bar(1, `measured time, in those of a full wave: ${times.toFixed(2)}`, times)
    const idle = paid * multiprocessors - count
    const says =
      `${number(columns)} columns are ${plural(count, 'tile')}. ` +
      (even ? `Each multiprocessor has ${number((256 * count) / multiprocessors)} steps of ${number(256 * count)}` : `They take ${plural(paid, 'wave')}, with ${plural(idle, 'place')} empty in the last one`) +
      `. Measured on an ${device}: ${(even ? data.even : whole)[columns].toPrecision(3)} ms, ${times.toFixed(2)} times as long as a full wave of whole tiles.`
    return { svg, height: y + BAR + 22, says }
  },
}
