// SPDX-License-Identifier: MIT
// What one load of a warp moves: 32 lanes that read ints, `stride` apart from `offset` on.

import { LANES, LINE, SECTOR, sectorsOf } from './counts.mjs'

const INT = 4 // bytes
const LANE = 12 // pixels, as all sizes of the drawing
const TOP = 18
const FAN = 74
const HIGH = 26

/** What lane t reads. */
export const access = ({ stride, offset }) => `x[${stride === 1 ? 't' : `${stride} * t`}${offset ? ` + ${offset}` : ''}]`

const offsetsOf = ({ stride, offset }) => Array.from({ length: LANES }, (_, lane) => INT * (offset + stride * lane))

const number = (value) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? '' : 's'}`

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
  controls: ({ strides, offsets }) => [
    { name: 'stride', label: 'Stride', values: strides, show: (v) => plural(v, 'int') },
    { name: 'offset', label: 'Offset', values: offsets, show: (v) => plural(v, 'int') },
  ],
  draw(state, { sweeps, device }, width) {
    const offsets = offsetsOf(state)
    const sectors = sectorsOf(offsets, INT)
    const lines = [...new Set([...sectors.keys()].map((s) => Math.floor((s * SECTOR) / LINE)))]
    const pitch = Math.min(width / lines.length, width / 4)
    const wide = pitch * (lines.length > 12 ? 0.82 : 0.94)
    const left = (width - pitch * lines.length + (pitch - wide)) / 2
    const at = (byte) => left + pitch * lines.indexOf(Math.floor(byte / LINE)) + ((byte % LINE) / LINE) * wide
    const lane = (i) => ((i + 0.5) * width) / LANES
    const y = TOP + LANE + FAN

    let svg = `<text x="0" y="12">lane 0</text><text x="${width}" y="12" class="end">31</text>`
    let fans = ''
    ;[...sectors].forEach(([sector, lanes], i) => {
      svg += `<rect class="moved" x="${at(sector * SECTOR)}" y="${y}" width="${wide / 4}" height="${HIGH}"/>`
      for (const l of lanes) {
        const used = Math.max((INT / LINE) * wide, 2)
        svg += `<rect class="used" x="${at(offsets[l])}" y="${y}" width="${used}" height="${HIGH}"/>`
        svg += `<rect class="lane ${i % 2 ? 'odd' : 'even'}" x="${lane(l) - width / 80}" y="${TOP}" width="${width / 40}" height="${LANE}"/>`
        fans += `<path class="${i % 2 ? 'odd' : 'even'}" d="M${lane(l)} ${TOP + LANE}L${at(offsets[l]) + used / 2} ${y}"/>`
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
    const moved = sectors.size * SECTOR
    const used = LANES * INT
    let says = `${access(state)}: ${plural(sectors.size, 'sector')} in ${plural(lines.length, 'line')}, ${used} of ${number(moved)} bytes moved are used, ${number((100 * used) / moved)} %.`
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
