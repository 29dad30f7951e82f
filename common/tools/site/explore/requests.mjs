// SPDX-License-Identifier: MIT
// What one request of a warp touches, drawn: the sectors of a load, the passes through the banks of shared memory.

import { BANKS, LANES, LINE, SECTOR, banksOf, upTo } from './events.mjs'
import { number, plural } from './words.mjs'

const INT = 4 // bytes

const ROW = 12 // pixels: a row of lanes
const TOP = 18 // above it
const FAN = 70 // from the lanes to what they touch

// ---- sectors: 32 lanes read ints, `stride` apart from `offset` on --------------------------------------

const HIGH = 26 // pixels: a line and its sectors

/** What lane t reads. */
export const access = ({ stride, offset }) => `x[${stride === 1 ? 't' : `${stride} * t`}${offset ? ` + ${offset}` : ''}]`

/** Where lane t reads, in bytes. */
const intsOf = ({ stride, offset }) => Array.from({ length: LANES }, (_, lane) => INT * (offset + stride * lane))

/** The sectors in which ints lie, in the order of the lanes: [{ line, column, lanes }, ..]. An int lies in one. */
export function sectorsOf(offsets) {
  const sectors = new Map()
  offsets.forEach((offset, lane) => {
    const sector = Math.floor(offset / SECTOR)
    if (!sectors.has(sector)) sectors.set(sector, { line: Math.floor(offset / LINE), column: sector % (LINE / SECTOR), lanes: [] })
    sectors.get(sector).lanes.push(lane)
  })
  return [...sectors.values()]
}

/** What was measured with this stride and offset, beside the first row of the same sweep; null where nothing was. */
function measured({ stride, offset }, sweeps) {
  const [sweep, key, base] = offset === 0 ? [sweeps.stride, stride, 1] : stride === 1 ? [sweeps.offset, offset, 0] : []
  if (!sweep?.rates[key]) return null
  return { rate: sweep.rates[key], base: sweep.rates[base], of: offset === 0 ? 'stride 1' : 'offset 0', loads: sweep.loads }
}

function bar(y, width, share, name) {
  return `<text x="0" y="${y}">${name}</text><rect class="empty" x="0.5" y="${y + 6}" width="${width - 1}" height="10"/>
    <rect class="used" x="0.5" y="${y + 6}" width="${share * (width - 1)}" height="10"/>`
}

export const coalescing = {
  legend: () => [['used', 'what a lane asks for'], ['odd', 'lanes of every second sector'], ['moved', 'what its sector brings besides']],
  controls: ({ strides, offsets }) => [
    { name: 'stride', label: 'Stride', values: strides, show: (v) => plural(v, 'int') },
    { name: 'offset', label: 'Offset', values: offsets, show: (v) => plural(v, 'int') },
  ],
  draw(state, { sweeps, device }, width) {
    const offsets = intsOf(state)
    const sectors = sectorsOf(offsets)
    const lines = [...new Set(sectors.map(({ line }) => line))]
    const pitch = Math.min(width / lines.length, width / 4)
    const wide = pitch * (lines.length > 12 ? 0.82 : 0.94)
    const left = (width - pitch * lines.length + (pitch - wide)) / 2
    const at = (byte) => left + pitch * lines.indexOf(Math.floor(byte / LINE)) + ((byte % LINE) / LINE) * wide
    const lane = (i) => ((i + 0.5) * width) / LANES
    const y = TOP + ROW + FAN

    let svg = `<text x="0" y="12">lane 0</text><text x="${width}" y="12" class="end">31</text>`
    let fans = ''
    sectors.forEach(({ line, column, lanes }, i) => {
      svg += `<rect class="moved" x="${at(line * LINE + column * SECTOR)}" y="${y}" width="${wide / 4}" height="${HIGH}"/>`
      for (const l of lanes) {
        const used = Math.max((INT / LINE) * wide, 2)
        svg += `<rect class="used" x="${at(offsets[l])}" y="${y}" width="${used}" height="${HIGH}"/>`
        svg += `<rect class="${i % 2 ? 'odd' : 'even'}" x="${lane(l) - width / 80}" y="${TOP}" width="${width / 40}" height="${ROW}"/>`
        fans += `<path class="${i % 2 ? 'odd' : 'even'}" d="M${lane(l)} ${TOP + ROW}L${at(offsets[l]) + used / 2} ${y}"/>`
      }
    })
    for (const line of lines) {
      const x = at(line * LINE)
      if (wide >= 24) for (let s = 1; s < 4; s++) svg += `<path class="inner" d="M${x + (s * wide) / 4} ${y}v${HIGH}"/>`
      svg += `<rect class="frame" x="${x}" y="${y}" width="${wide}" height="${HIGH}"/>`
      if (pitch > 45) svg += `<text x="${x}" y="${y + HIGH + 14}">byte ${number(line * LINE)}</text>`
    }
    if (pitch <= 45) {
      svg += `<text x="${at(lines[0] * LINE)}" y="${y + HIGH + 14}">byte ${number(lines[0] * LINE)}</text>`
      svg += `<text class="end" x="${at(lines.at(-1) * LINE) + wide}" y="${y + HIGH + 14}">${number(lines.at(-1) * LINE)}</text>`
    }
    let height = y + HIGH + 20
    const moved = sectors.length * SECTOR
    const used = LANES * INT
    let says = `${access(state)}: ${plural(sectors.length, 'sector')} in ${plural(lines.length, 'line')}, ${used} of ${number(moved)} bytes moved are used, ${number((100 * used) / moved)} %.`
    if (sweeps) {
      const is = measured(state, sweeps)
      svg += bar(height + 20, width, used / moved, `bytes used of bytes moved: ${number((100 * used) / moved)} %`)
      const name = is ? `measured, of the speed at ${is.of}: ${number((100 * is.rate) / is.base)} %` : 'not measured'
      svg += bar(height + 56, width, is ? Math.min(is.rate / is.base, 1) : 0, name)
      height += 78
      says += is
        ? ` Measured on an ${device}: ${number(is.rate)} GB/s of used bytes, and ${number(is.base)} at ${is.of} (${is.loads} loads).`
        : ' This pair was not measured.'
    }
    return { height, svg: fans + svg, says }
  },
}

// ---- banks, pass by pass -------------------------------------------------------------------------------

/** Where 32 lanes read whose elements lie `stride` apart, in an array with `padding` elements after every 128 bytes. */
export function slotsOf({ stride, bytes, padding }) {
  return Array.from({ length: LANES }, (_, lane) => {
    const offset = lane * stride * bytes
    return offset + Math.floor(offset / LINE) * padding * bytes
  })
}

const STRIP = 6 // pixels: the row of banks
const MOST = 208 // and the longest queue
// The positions that common/tools/measure/bank_positions.cpp asks the model for.
export const [STRIDES, SIZES, PADDINGS] = [upTo(0, 33), [4, 8, 16], [0, 1, 2]]

/** The request at a position, as X-ray's model serves it: { ideal, passes: the pass of each lane }. */
export const servedAt = ({ stride, bytes, padding }, { requests, positions }) => requests[positions[`${stride} ${bytes} ${padding}`]]
/** What the banks do in each pass: a Map from a bank to the lanes that its word goes to. */
const passesAt = (state, data) => banksOf(servedAt(state, data).passes, slotsOf(state), state.bytes)

export const banks = {
  plays: 'pass',
  legend: () => [['used', 'served in this pass'], ['moved', 'waits for a later pass'], ['empty', 'served before, or not asked for']],
  controls: () => [
    { name: 'stride', label: 'Stride', values: STRIDES, show: (v) => plural(v, 'element') },
    { name: 'bytes', label: 'Size of an element', values: SIZES, show: (v) => `${v} bytes` },
    { name: 'padding', label: 'Padding after 128 bytes', values: PADDINGS, show: (v) => (v ? plural(v, 'element') : 'none') },
    {
      name: 'pass',
      label: 'Pass',
      values: (state, data) => passesAt(state, data).map((_, i) => i + 1),
      show: (v, state, data) => `${v} of ${passesAt(state, data).length}`,
    },
  ],
  draw(state, data, width) {
    const passes = passesAt(state, data)
    const now = state.pass - 1
    const served = passes[now]
    const cell = width / LANES
    const middle = (i) => (i + 0.5) * cell
    const box = (kind, i, y, high) => `<rect class="${kind}" x="${i * cell + cell / 10}" y="${y}" width="${0.8 * cell}" height="${high}"/>`
    const y = TOP + ROW + FAN
    const lanesOf = (pass) => new Set([...pass.values()].flatMap(({ lanes }) => lanes))
    const [busy, done] = [lanesOf(served), new Set(passes.slice(0, now).flatMap((pass) => [...lanesOf(pass)]))]

    let svg = `<text x="0" y="12">lane 0</text><text x="${width}" y="12" class="end">31</text>`
    for (let lane = 0; lane < LANES; lane++) svg += box(busy.has(lane) ? 'used' : done.has(lane) ? 'empty' : 'moved', lane, TOP, ROW)
    for (const [bank, { lanes }] of served) {
      for (const lane of lanes) svg += `<path class="even" d="M${middle(lane)} ${TOP + ROW}L${middle(bank)} ${y}"/>`
    }
    for (let bank = 0; bank < BANKS; bank++) svg += box(served.has(bank) ? 'used' : 'empty', bank, y, STRIP)
    // Below each bank its words, those that are delivered first on top.
    const queues = Array.from({ length: BANKS }, (_, bank) => passes.flatMap((pass, i) => (pass.has(bank) ? [i] : [])))
    const longest = Math.max(...queues.map((queue) => queue.length))
    const high = Math.min(ROW, MOST / longest)
    queues.forEach((queue, bank) => {
      queue.forEach((pass, i) => (svg += box(pass === now ? 'used' : pass < now ? 'empty' : 'moved', bank, y + STRIP + 4 + i * high, 0.8 * high)))
    })
    const height = y + STRIP + 4 + Math.max(longest, 4) * high + 18
    svg += `<text x="0" y="${height - 5}">bank 0</text><text x="${width}" y="${height - 5}" class="end">31</text>`

    const least = servedAt(state, data).ideal
    const needs = least < passes.length ? `, where ${least} would do without conflicts` : ', no conflict'
    const paddings = state.padding ? `, ${plural(state.padding, 'element')} of padding` : ''
    const says =
      `Stride ${state.stride}, ${state.bytes} bytes${paddings}: ${plural(passes.length, 'pass', 'passes')}${needs}. ` +
      `Pass ${state.pass}: ${plural(served.size, 'bank')} ${served.size === 1 ? 'delivers' : 'deliver'} to ${plural(busy.size, 'lane')}.`
    return { height, svg, says }
  },
}
