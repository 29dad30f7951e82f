// SPDX-License-Identifier: MIT
// How the banks of shared memory serve one load or store of a warp, pass by pass: 32 lanes at elements that lie `stride`
// apart, in an array with `padding` elements after every 128 bytes.

import { BANKS, LANES, LINE, WORD, passesOf } from './counts.mjs'

const ROW = 12 // pixels, as all sizes of the drawing
const TOP = 18
const FAN = 64
const STRIP = 6
const MOST = 208 // of the queues

/** Where the lanes read, in bytes from the start of the array. */
export function offsetsOf({ stride, bytes, padding }) {
  return Array.from({ length: LANES }, (_, lane) => {
    const offset = lane * stride * bytes
    return offset + Math.floor(offset / LINE) * padding * bytes
  })
}

const plural = (count, noun, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`
const passesAt = (state, { operation }) => passesOf(offsetsOf(state), state.bytes, operation)

export const banks = {
  controls: ({ strides }) => [
    { name: 'stride', label: 'Stride', values: strides, show: (v) => plural(v, 'element') },
    { name: 'bytes', label: 'Size of an element', values: [4, 8, 16], show: (v) => `${v} bytes` },
    { name: 'padding', label: 'Padding after 128 bytes', values: [0, 1, 2], show: (v) => (v ? plural(v, 'element') : 'none') },
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
    const lanesOf = (pass) => new Set([...pass.values()].flat())
    const [busy, done] = [lanesOf(served), new Set(passes.slice(0, now).flatMap((pass) => [...lanesOf(pass)]))]

    let svg = `<text x="0" y="12">lane 0</text><text x="${width}" y="12" class="end">31</text>`
    for (let lane = 0; lane < LANES; lane++) svg += box(busy.has(lane) ? 'used' : done.has(lane) ? 'empty' : 'moved', lane, TOP, ROW)
    for (const [bank, lanes] of served) {
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

    const words = new Set(offsetsOf(state).flatMap((offset) => Array.from({ length: state.bytes / WORD }, (_, i) => offset / WORD + i)))
    const least = Math.ceil(words.size / BANKS)
    const needs = least < passes.length ? `, where ${least} would do without conflicts` : ', no conflict'
    const paddings = state.padding ? `, ${plural(state.padding, 'element')} of padding` : ''
    const says =
      `Stride ${state.stride}, ${state.bytes} bytes${paddings}: ${plural(passes.length, 'pass', 'passes')}${needs}. ` +
      `Pass ${state.pass}: ${plural(served.size, 'bank')} ${served.size === 1 ? 'delivers' : 'deliver'} to ${plural(busy.size, 'lane')}.`
    return { height, svg, says }
  },
}
