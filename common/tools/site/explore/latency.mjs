// SPDX-License-Identifier: MIT
// Bandwidth against bytes in flight: the curve that a reader expects, then what was measured, point by point, beside
// Little's law.

import { plural } from './words.mjs'

const [LEFT, RIGHT, TOP, HIGH] = [46, 8, 8, 230] // pixels around the plot, and its height
const X = [2 ** 10, 2 ** 26] // bytes in flight
const Y = [2, 8192] // GB/s

const number = (value) => value.toLocaleString('en', { maximumSignificantDigits: value < 100 ? 2 : 4 })
const inBytes = (value) => (value >= 2 ** 20 ? `${number(value / 2 ** 20)} MiB` : `${number(value / 2 ** 10)} KiB`)
const inFlight = ({ grid, loads, bytes }, { block }) => grid * block * loads * bytes
const isAt = (state) => (point) => ['grid', 'loads', 'bytes'].every((key) => point[key] === state[key])

const along = (value, [least, most]) => Math.log(value / least) / Math.log(most / least)
const xOf = (value, width) => LEFT + along(value, X) * (width - LEFT - RIGHT)
const yOf = (value) => TOP + (1 - along(value, Y)) * HIGH

export const latency = {
  controls: ({ knees, grids }) => [
    { name: 'knee', label: 'You expect full speed from', values: knees, show: (v) => `${inBytes(v)} in flight`, when: { shown: false } },
    { name: 'grid', label: 'Warps', values: grids, show: (v, _, { block }) => number((v * block) / 32), when: { shown: true } },
    { name: 'loads', label: 'Loads per thread', values: [1, 2, 4, 8], show: (v) => v, when: { shown: true } },
    { name: 'bytes', label: 'Size of a load', values: [4, 16], show: (v) => `${v} bytes`, when: { shown: true } },
  ],
  /** Where the pointer presses: the expected curve bends there; or the nearest measured point is chosen. */
  press({ x, y }, { shown }, data, width) {
    const nearest = (values, distance) => values.reduce((best, value) => (distance(value) < distance(best) ? value : best))
    if (!shown) return { knee: nearest(data.knees, (knee) => Math.abs(xOf(knee, width) - x)) }
    const { grid, loads, bytes } = nearest(data.points, (p) => Math.hypot(xOf(inFlight(p, data), width) - x, yOf(p.rate) - y))
    return { grid, loads, bytes }
  },
  draw(state, data, width) {
    const { read, latency, points, device } = data
    const line = (kind, ...places) => `<path class="${kind}" d="M${places.map(([x, y]) => `${xOf(x, width)} ${yOf(y)}`).join('L')}"/>`
    let svg = ''
    for (let y = 8; y <= Y[1]; y *= 8) {
      svg += `${line('grid', [X[0], y], [X[1], y])}<text class="end" x="${LEFT - 6}" y="${yOf(y) + 4}">${number(y)}</text>`
    }
    for (let x = X[0]; x < X[1]; x *= 16) {
      svg += `${line('grid', [x, Y[0]], [x, Y[1]])}<text x="${xOf(x, width)}" y="${TOP + HIGH + 14}">${inBytes(x)}</text>`
    }
    svg += `<text x="${LEFT + 6}" y="${TOP + 12}">GB/s</text><text class="end" x="${width}" y="${TOP + HIGH + 32}">bytes in flight</text>`
    const height = TOP + HIGH + 38
    // Words at the curves themselves: where each leaves its slope, which is where nothing else stands.
    const at = (words, x, y, kind) => `<text class="${kind}" x="${xOf(x, width)}" y="${yOf(y)}">${words}</text>`
    const expected = line('odd wide', [X[0], (read * X[0]) / state.knee], [state.knee, read], [X[1], read])
    const under = Math.max(state.knee / 24, 1.2 * X[0])
    const beside = { x: xOf(under, width) + 12, y: yOf((read * under) / state.knee / 1.8) } // the slope is steep on a phone
    const yours = `<text class="note" x="${beside.x}" y="${beside.y}">what you expect</text>`
    if (!state.shown) {
      return { svg: svg + expected + yours, height, says: `You expect that the bandwidth grows with the bytes in flight, up to ${number(read)} GB/s at ${inBytes(state.knee)}.` }
    }
    const bend = read * latency
    svg += expected + line('even dashed', [X[0], X[0] / latency], [bend, read], [X[1], read])
    for (const point of points) svg += `<circle class="even" cx="${xOf(inFlight(point, data), width)}" cy="${yOf(point.rate)}" r="3"/>`
    svg += yours + at("Little's law", bend * 2.2, read * 1.25, 'note')
    svg += at('measured', bend * 2.2, read / 2.6, 'note')
    const now = inFlight(state, data)
    const most = Math.min(now / latency, read)
    const is = points.find(isAt(state))
    svg += `<circle class="now" cx="${xOf(now, width)}" cy="${yOf(is ? is.rate : most)}" r="7"/>`
    const says =
      `${plural((state.grid * data.block) / 32, 'warp')} with ${plural(state.loads, 'load')} of ${state.bytes} bytes per thread have ${inBytes(now)} in flight. ` +
      `Little's law: ${number(most)} GB/s at most, with ${latency} ns for a load alone. ` +
      (is ? `Measured on an ${device}: ${number(is.rate)} GB/s, ${number((100 * is.rate) / most)} % of that.` : 'This was not measured.')
    return { svg, height, says }
  },
}
