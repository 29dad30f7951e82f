// SPDX-License-Identifier: MIT
// Which pictures of the notes a reader can explore on the site, and what with: an object for <explore-figure>, made of
// stored results. A drawing that X-ray's counts contradict ends the build.

import fs from 'node:fs'
import path from 'node:path'
import { rowsOf } from '../source_pages.mjs'
import { offsetsOf } from './banks.mjs'
import { access } from './coalescing.mjs'
import { LANES, passesOf, sectorsOf } from './counts.mjs'

const INT = 4 // bytes

/** The offsets of the lanes in a row of xray.csv, null for an idle one. */
export const lanesOf = (row) => row.offsets.split(' ').map((offset) => (offset === '-' ? null : Number(offset)))

/**
 * Whether all requests of the row can be like the one whose lanes it shows: the row stands for all requests of one line of
 * a program, and in a tree whose levels halve they have other numbers of active lanes.
 */
export function isOfOneKind(row) {
  return lanesOf(row).filter((offset) => offset !== null).length * row.requests === Number(row.lanes)
}

function firstOf(rows, wanted) {
  const found = rows.filter((row) => Object.entries(wanted).every(([column, value]) => row[column] === value))
  if (found.length === 0) throw new Error(`xray.csv: no row with ${JSON.stringify(wanted)}`)
  return found[0]
}

/** The four loads of the picture as buttons, each with the index that its lanes have. */
function tracedLoads(rows) {
  const load = { space: 'global', operation: 'load' }
  const traced = [
    { trace: 'versions', kernel: 'sum_strided' },
    { trace: 'offset', kernel: 'sum_walk' },
    { trace: 'stride', kernel: 'sum_walk' },
    { trace: 'versions', kernel: 'sum_chunked' },
  ]
  return traced.map((wanted) => {
    const row = firstOf(rows, { ...wanted, ...load })
    const lanes = lanesOf(row)
    const [offset, stride] = [lanes[0] / INT, (lanes[1] - lanes[0]) / INT]
    const counted = row.sectors / row.requests
    if (sectorsOf(lanes, INT).size !== counted) throw new Error(`${row.kernel}: X-ray counted ${counted} sectors`)
    return { label: access({ offset, stride }), state: { offset, stride } }
  })
}

/** The rates of a sweep's rows, by the number in the version's name. */
function sweep(rows, setting) {
  const measured = rows.filter((row) => row.setting === setting)
  const loads = Number(/n = (\d+)/.exec(measured[0].workload)[1]) / 2 ** 20
  const rates = Object.fromEntries(measured.map((row) => [row.version.split('=')[1], Number(row.rate)]))
  return { loads: `${loads} Mi`, rates }
}

const upTo = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
const sorted = (values) => [...new Set(values)].sort((a, b) => a - b)

function coalescing(results) {
  const presets = tracedLoads(results('xray.csv'))
  const strides = sorted([...upTo(1, 32), 64, 128, 256, 512, 1024, ...presets.map((preset) => preset.state.stride)])
  return { kind: 'coalescing', strides, offsets: upTo(0, 32), start: { stride: 1, offset: 0 }, presets }
}

/** The same beside what was measured. */
function measuredStrides(results) {
  const rows = results('h200.csv')
  const sweeps = { stride: sweep(rows, 'stride'), offset: sweep(rows, 'offset') }
  const strides = sorted([...upTo(1, 32), ...Object.keys(sweeps.stride.rates).map(Number)])
  return { ...coalescing(results), strides, sweeps, device: rows[0].device, presets: [], keeps: true }
}

/** Requests of shared memory as buttons: the stride of the traced lanes, with that padding. */
function banks(operation, wanted) {
  return (results) => {
    const rows = results('xray.csv')
    const presets = wanted.map(({ label, padding = 0, ...traced }) => {
      const row = firstOf(rows, { ...traced, space: 'shared', operation })
      const [lanes, bytes] = [lanesOf(row), Number(row.bytes_per_lane)]
      const stride = Math.floor((lanes[LANES - 1] - lanes[0]) / (LANES - 1) / bytes) - (padding && 1)
      const state = { stride, bytes, padding, pass: 1 }
      if (offsetsOf(state).join() !== lanes.join()) throw new Error(`${label}: its lanes are not ${stride} elements apart`)
      const [passes, counted] = [passesOf(lanes, bytes, operation).length, row.wavefronts / row.requests]
      if (isOfOneKind(row) && passes !== counted) throw new Error(`${label}: X-ray counted ${counted} passes`)
      return { label, state }
    })
    return { kind: 'banks', operation, strides: upTo(0, 33), start: presets[0].state, presets }
  }
}

const FIGURES = {
  'chapters/03_coalesced_threads/figures/accesses.svg': coalescing,
  'chapters/03_coalesced_threads/figures/sweeps.svg': measuredStrides,
  'chapters/05_shared_tree_reduction/figures/banks.svg': banks('load', [
    { label: 'sum_shared_interleaved', trace: 'block', kernel: 'sum_shared_interleaved' },
    { label: 'sum_shared_sequential', trace: 'block', kernel: 'sum_shared_sequential' },
  ]),
  'chapters/08_tiled_matmul/figures/banks.svg': banks('store', [
    { label: 'column_conflict', kernel: 'multiply_transposed_tile<32, 0>', name: 'tile_a' },
    { label: 'column_padded', kernel: 'multiply_transposed_tile<32, 1>', name: 'tile_a', padding: 1 },
  ]),
}

/** What a picture becomes: an object, or null for one that stays a picture. */
export function explorable(root, picture) {
  const results = (name) => rowsOf(fs.readFileSync(path.join(root, picture, '../../results', name), 'utf8'))
  return FIGURES[picture]?.(results) ?? null
}
