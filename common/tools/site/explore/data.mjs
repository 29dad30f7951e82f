// SPDX-License-Identifier: MIT
// Which pictures of the notes a reader can explore on the site, and the data for each: an object for <explore-figure>,
// made of stored results. A drawing that X-ray's counts contradict ends the build.

import fs from 'node:fs'
import path from 'node:path'
import { rowsOf } from '../source_pages.mjs'
import { lanesStops, stepsOf } from './divergence.mjs'
import { LANES, upTo } from './events.mjs'
import { ROW_BYTES, lanesOfFragments, offsetsOfRows, wavefrontsOf } from './fragments.mjs'
import { PADDINGS, SIZES, STRIDES, access, sectorsOf, servedAt, slotsOf } from './requests.mjs'
import { GLOBAL, readTooEarly, stepsOf as stepsOfBlock, stopsOf } from './pipeline.mjs'
import { levelsOf } from './trees.mjs'
import { blocksOf, wavesHold } from './waves.mjs'

const [INT, FLOAT] = [4, 4] // bytes

/** The offsets of the lanes in a row of xray.csv, null for an idle one. */
export const lanesOf = (row) => row.offsets.split(' ').map((offset) => (offset === '-' ? null : Number(offset)))

function firstOf(rows, wanted) {
  const found = rows.find((row) => Object.entries(wanted).every(([column, value]) => row[column] === value))
  if (!found) throw new Error(`xray.csv: no row with ${JSON.stringify(wanted)}`)
  return found
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
    if (sectorsOf(lanes).length !== counted) throw new Error(`${row.kernel}: X-ray counted ${counted} sectors`)
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

const sorted = (values) => [...new Set(values)].sort((a, b) => a - b)

function coalescing(results) {
  const presets = tracedLoads(results('xray.csv'))
  const strides = sorted([...upTo(1, 32), 64, 128, 256, 512, 1024, ...presets.map((preset) => preset.state.stride)])
  return { kind: 'coalescing', strides, offsets: upTo(0, 32), start: presets[2].state, presets }
}

/** The same beside what was measured. */
function measuredStrides(results) {
  const rows = results('h200.csv')
  const sweeps = { stride: sweep(rows, 'stride'), offset: sweep(rows, 'offset') }
  const strides = sorted([...upTo(1, 32), ...Object.keys(sweeps.stride.rates).map(Number)])
  return { ...coalescing(results), strides, sweeps, device: rows[0].device, start: { stride: 8, offset: 0 }, presets: [], keeps: true }
}

/**
 * Requests of shared memory as buttons: the stride of the traced lanes, with that padding; and how the banks serve each
 * request that can be chosen.
 */
function banks(operation, wanted) {
  return (results, text) => {
    const rows = results('xray.csv')
    const served = JSON.parse(text('banks.json'))[operation]
    for (const stride of STRIDES) {
      for (const bytes of SIZES) {
        for (const padding of PADDINGS) if (!servedAt({ stride, bytes, padding }, served)) throw new Error(`banks.json: no stride ${stride} of ${bytes} bytes, padding ${padding}`)
      }
    }
    const presets = wanted.map(({ label, padding = 0, ...traced }) => {
      const row = firstOf(rows, { ...traced, space: 'shared', operation })
      const [lanes, bytes] = [lanesOf(row), Number(row.bytes_per_lane)]
      const stride = Math.floor((lanes[LANES - 1] - lanes[0]) / (LANES - 1) / bytes) - (padding && 1)
      const state = { stride, bytes, padding, pass: 1 }
      if (slotsOf(state).join() !== lanes.join()) throw new Error(`${label}: its lanes are not ${stride} elements apart`)
      const passes = servedAt(state, served).passes.map((pass) => pass + 1)
      if (row.passes !== (passes.every((pass) => pass === 1) ? '1' : passes.join(' '))) throw new Error(`${label}: X-ray counted other passes`)
      return { label, state }
    })
    return { kind: 'banks', ...served, start: presets[0].state, presets }
  }
}

/** The points of chapter 04 that bytes in flight explain: sweeps of the grid and of loads, up to as many blocks as fit. */
function latency(results) {
  const rows = results('h200.csv')
  const of = (setting) => rows.filter((row) => row.setting === setting)
  const matched = (setting, pattern) =>
    of(setting).flatMap((row) => {
      const { grid, loads, bytes = 4 } = pattern.exec(row.version)?.groups ?? {}
      return grid ? [{ grid: Number(grid), loads: Number(loads), bytes: Number(bytes), rate: Number(row.rate) }] : []
    })
  const sweep = matched('grid', /^grid=(?<grid>\d+) loads=(?<loads>\d+)$/)
  const wave = Math.max(...sweep.map(({ grid }) => grid)) / 4 // the sweep ends at four waves
  const loads = matched('loads', /^(?<bytes>\d+)Bx(?<loads>\d+) grid=(?<grid>\d+)$/)
  const points = [...sweep.filter(({ grid }) => grid <= wave), ...loads.filter((p) => !sweep.some((q) => q.grid === p.grid && q.loads === p.loads && p.bytes === 4))]
  const last = of('grid').at(-1)
  return {
    kind: 'latency',
    device: last.device,
    block: Number(/block (?:= )?(\d+)/.exec(last.workload)[1]),
    read: (100 * last.rate) / last.of_percent,
    latency: Number((1e6 * of('latency').at(-1).median_ms).toFixed(1)),
    points,
    grids: sorted(points.map(({ grid }) => grid)),
    knees: upTo(32, 46).map((half) => Math.round(2 ** (half / 2))),
    start: { shown: false, knee: 2 ** 18, grid: 132, loads: 1, bytes: 4 },
    presets: [
      { label: 'Show what was measured', state: { shown: true }, when: { shown: false } },
      { label: 'Guess again', state: { shown: false }, when: { shown: true } },
    ],
  }
}

/** The levels of three trees, as X-ray saw one block of each; and without the barriers in their loops. */
function trees(results, text) {
  const races = JSON.parse(text('races.json'))
  const kernels = JSON.parse(text('events.json')).kernels.map((kernel) => {
    const levels = levelsOf(kernel)
    if (levels.at(-1).sum !== kernel.block[0]) throw new Error(`${kernel.kernel}: the sum of ${levels.at(-1).sum} values of ${kernel.block[0]}`)
    const ahead = levelsOf(kernel, true)
    if (!(ahead.at(-1).sum < kernel.block[0])) throw new Error(`${kernel.kernel}: needs no barriers`)
    const report = races[kernel.kernel].slice(0, 3).map((line) => line.trim().replace(/^chapters.*\//, ''))
    return { name: kernel.kernel, levels, ahead, report }
  })
  const presets = [
    { label: 'Take the barriers in the loops away', state: { barriers: false }, when: { barriers: true } },
    { label: 'Put them back', state: { barriers: true }, when: { barriers: false } },
  ]
  return { kind: 'trees', kernels, start: { level: 3, barriers: true }, presets }
}

/** The lanes of a warp step by step, one trace for each button. */
function divergence(results, text) {
  const stored = JSON.parse(text('events.json')).kernels
  const wanted = { one: 'One path', two: 'Two paths', four: 'Four paths', all: '32 paths', branch: 'An if with long sides', loop: 'A loop of 1 to 32 turns' }
  const traces = Object.entries(wanted).map(([trace, label]) => {
    const kernel = stored.find((k) => k.trace === trace)
    if (!kernel || kernel.steps !== kernel.steps_kept) throw new Error(`events.json: not all steps of ${trace}`)
    const steps = stepsOf(kernel)
    const codes = [...new Set(steps.map(([code]) => code))]
    return [trace, { label, codes, steps: steps.map(([code, mask]) => [codes.indexOf(code), mask]) }]
  })
  const data = { kind: 'divergence', traces: Object.fromEntries(traces) }
  // In the middle there is more to see than at the beginning, where all lanes still go together.
  const middle = (trace) => lanesStops({ trace }, data)[Math.floor(lanesStops({ trace }, data).length / 2)].first
  const presets = Object.entries(wanted).map(([trace, label]) => ({ label, state: { trace, step: middle(trace) } }))
  return { ...data, start: { trace: 'four', step: middle('four') }, presets }
}

/** Rows and columns of C, and the depth of a step, of chapter 14's kernels; of others the side of a square tile. */
const WHOLE_TILES = { multiply_wide_copies: [128, 128, 16], multiply_double_buffer: [128, 128, 16], multiply_large_tiles: [128, 256, 16] }

function tileOf(kernel) {
  return WHOLE_TILES[kernel] ?? Array(3).fill(Number(/<(\d+)>/.exec(kernel)[1]))
}

/** What a block does with its tiles or slices; `wanted` is the label of each trace, `arraysOf` says which there are. */
function pipeline(wanted, arraysOf) {
  return (results, text) => {
    const stored = JSON.parse(text('steps.json')).kernels
    const kernels = Object.keys(wanted).map((trace) => {
      const kernel = stored.find((k) => k.trace === trace)
      const arrays = arraysOf(kernel.kernel, trace)
      const partOf = (name, first) => arrays.findLast((array) => array.name === name && array.begins <= first)
      const steps = stepsOfBlock(kernel, partOf)
      const early = readTooEarly(steps)
      if (early >= 0) throw new Error(`${trace}: ${steps[early].row} is read before it is written, at step ${kernel.steps[early][0]}`)
      const codes = [...new Set(steps.map(({ code }) => code))]
      const [rows, columns] = tileOf(kernel.kernel)
      return [trace, { label: wanted[trace], computes: `${rows} x ${columns}`, codes, arrays, steps: steps.map((step) => ({ ...step, code: codes.indexOf(step.code) })) }]
    })
    const data = { kind: 'pipeline', kernels: Object.fromEntries(kernels) }
    // The first stop at which shared memory is read: before, nothing is in it.
    const reading = (kernel) => stopsOf({ kernel }, data).find(({ row, does }) => does === 'reads' && row !== GLOBAL).first
    const presets = Object.entries(wanted).map(([kernel, label]) => ({ label, state: { kernel, step: reading(kernel) } }))
    return { ...data, start: presets[0].state, presets, keeps: true }
  }
}

/** Square tiles of floats. */
function tiles(kernel) {
  const [rows, columns] = tileOf(kernel)
  const parts = [{ begins: 0, bytes: FLOAT * rows * columns, pitch: FLOAT * columns }]
  return ['tile_a', 'tile_b'].map((name) => ({ row: name, name, begins: 0, parts }))
}

/** Slices of A and B: an array of each, or both in one; a row of A is padded by 16 bytes. */
function slices(kernel, trace) {
  const [rows, columns, depth] = tileOf(kernel)
  const [a, b] = [FLOAT * rows + 16, FLOAT * columns].map((pitch) => ({ begins: 0, bytes: pitch * depth, pitch }))
  if (trace === 'large_tiles') {
    const parts = [a, { ...b, begins: a.bytes }]
    return [0, 1].map((i) => ({ row: `slice ${i}`, name: 'dynamic', begins: i * (a.bytes + b.bytes), parts }))
  }
  if (trace === 'wide_copies') return [['tile_a', a], ['tile_b', b]].map(([name, part]) => ({ row: name, name, begins: 0, parts: [part] }))
  return [['tiles_a', a], ['tiles_b', b]].flatMap(([name, part]) => [0, 1].map((i) => ({ row: `${name} ${i}`, name, begins: i * part.bytes, parts: [part] })))
}

/** Measured blocks of chapter 04's launch of two and a half waves: when each ran, and on which multiprocessor. */
function blocks(results) {
  const stored = results('h200_blocks.csv').map((row) => [row.sm, row.start_ns, row.end_ns].map(Number))
  const rows = results('h200.csv')
  const launch = rows.findLast(({ setting }) => setting === 'waves')
  const { read, latency: alone } = latency(results)
  const found = blocksOf(stored)
  if (stored.length * 2 !== found.multiprocessors * found.places * 5) throw new Error('h200_blocks.csv: not two waves and a half')
  const threads = Number(/block = (\d+)/.exec(launch.workload)[1])
  // The last half wave is what the lesson asks about.
  const time = Math.round(0.8 * found.end)
  return { kind: 'blocks', device: launch.device, threads, bytes: INT, needed: read * alone, ...found, start: { time }, presets: [] }
}

const TILES_DOWN = 12 // of 128 rows in the 1536 of C

/** Chapter 15's products over their columns: the tiles of each in waves, beside the times that were measured. */
function waves(results) {
  const rows = results('h200.csv').filter(({ setting }) => setting === 'sawtooth')
  const of = (version) => Object.fromEntries(rows.filter((row) => row.version.startsWith(`${version}=`)).map((row) => [row.columns, Number(row.median_ms)]))
  const tiles = Object.fromEntries(rows.map((row) => [row.columns, Number(row.tiles)]))
  const full = rows.filter((row) => row.tiles / row.waves === Math.max(...rows.map((r) => r.tiles / r.waves)))
  const data = { kind: 'waves', device: rows[0].device, rows: TILES_DOWN, multiprocessors: full[0].tiles / full[0].waves, tiles, whole: of('whole_tiles'), even: of('even_shares') }
  wavesHold(data, Object.fromEntries(rows.map((row) => [row.columns, Number(row.waves)])))
  return {
    ...data,
    columns: sorted(Object.keys(tiles).map(Number)),
    start: { columns: 2820, even: false },
    presets: [
      { label: 'Divide the steps evenly', state: { even: true }, when: { even: false } },
      { label: 'Whole tiles', state: { even: false }, when: { even: true } },
    ],
    keeps: true,
  }
}

/** Who holds which element of chapter 16's fragments, as its instructions gave them. */
const fragments = (results) => ({ kind: 'fragments', lanes: lanesOfFragments(results('fragments.csv')), start: { lane: 5 }, presets: [], keeps: true })

/** The rows that one ldmatrix loads from chapter 16's tiles, which lie where X-ray saw them, and take as many wavefronts. */
function swizzle(results) {
  const rows = results('xray.csv')
  for (const bytes of ROW_BYTES) {
    for (const swizzled of [false, true]) {
      const state = { bytes, swizzled }
      const kernel = `load_rows<${bytes / 16}u, ${swizzled}>`
      const loads = rows.filter((row) => row.kernel === kernel && row.space === 'shared' && row.operation === 'load')
      if (loads.length !== 2) throw new Error(`${kernel}: not a plain load and an ldmatrix`)
      const wavefronts = [0, 1].reduce((sum, piece) => sum + wavefrontsOf(state, piece, 0) + wavefrontsOf(state, piece, 8), 0)
      for (const row of loads) {
        if (lanesOf(row).join() !== offsetsOfRows(state).join()) throw new Error(`${kernel}: its rows lie elsewhere`)
        if (wavefronts !== Number(row.wavefronts)) throw new Error(`${kernel}: X-ray counted ${row.wavefronts} wavefronts, not ${wavefronts}`)
      }
    }
  }
  const presets = [
    { label: 'Swizzle the rows', state: { swizzled: true }, when: { swizzled: false } },
    { label: 'Leave them as they come', state: { swizzled: false }, when: { swizzled: true } },
  ]
  return { kind: 'swizzle', start: { bytes: 64, swizzled: false, piece: 0 }, presets, keeps: true }
}

const FIGURES = {
  'chapters/03_coalesced_threads/figures/accesses.svg': coalescing,
  'chapters/03_coalesced_threads/figures/sweeps.svg': measuredStrides,
  'chapters/04_multi_block/figures/saturation.svg': latency,
  'chapters/04_multi_block/figures/blocks.svg': blocks,
  'chapters/05_shared_tree_reduction/figures/trees.svg': trees,
  'chapters/05_shared_tree_reduction/figures/banks.svg': banks('load', [
    { label: 'sum_shared_interleaved', trace: 'block', kernel: 'sum_shared_interleaved' },
    { label: 'sum_shared_sequential', trace: 'block', kernel: 'sum_shared_sequential' },
  ]),
  'chapters/08_tiled_matmul/figures/walk.svg': pipeline({ tiled_32: 'tiled_32', tiled_32_ahead: 'tiled_32_ahead' }, tiles),
  'chapters/14_matmul_at_the_limit/figures/tiles.svg': pipeline(
    { wide_copies: 'wide_copies, one slice', double_buffer: 'double_buffer, two', large_tiles: 'large_tiles, two, copied' },
    slices,
  ),
  'chapters/11_warps_and_divergence/figures/divergence.svg': divergence,
  'chapters/15_matmul_of_any_shape/figures/sawtooth.svg': waves,
  'chapters/16_tensor_cores/figures/fragments.svg': fragments,
  'chapters/16_tensor_cores/figures/swizzle.svg': swizzle,
  'chapters/08_tiled_matmul/figures/banks.svg': banks('store', [
    { label: 'column_conflict', kernel: 'multiply_transposed_tile<32, 0>', name: 'tile_a' },
    { label: 'column_padded', kernel: 'multiply_transposed_tile<32, 1>', name: 'tile_a', padding: 1 },
  ]),
}

/** What a picture becomes: an object, or null for one that stays a picture. */
export function explorable(root, picture) {
  const text = (name) => fs.readFileSync(path.join(root, picture, '../../results', name), 'utf8')
  return FIGURES[picture]?.((name) => rowsOf(text(name)), text) ?? null
}
