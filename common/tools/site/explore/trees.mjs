// SPDX-License-Identifier: MIT
// Trees that add up in shared memory, level by level: which threads add, which slots they read and write, and of how many
// values each slot holds the sum. Made of X-ray's events of one block, whose format stands in common/cpu/xray/events.h.

import { LANES } from './events.mjs'
import { lines, plural } from './words.mjs'

const SLOT = 8 // bytes of a partial sum
const ROW = 15 // pixels, as all sizes of the drawing
const TITLE = 18

/**
 * What a kernel's block does from barrier to barrier: { code, threads, reads, writes, holds }; `threads` are those that
 * store, `holds` says for each slot how many of the block's values it is the sum of. `ahead`: of a block without barriers in
 * its loop, whose first warp has come to its end before any other adds.
 */
export function levelsOf({ block: [threads], events, files, source }, ahead = false) {
  const levels = [[]]
  for (const event of events) {
    if (event[4] === 'barrier') levels.push([])
    else levels.at(-1).push(event)
  }
  const holds = Array(threads).fill(0)
  return levels.map((all, i) => {
    const level = ahead && i > 0 ? all.filter(([, warp]) => warp === 0) : all
    const loaded = new Map() // by thread: what it holds in registers
    const is = { code: '', threads: [], reads: [], writes: [] }
    for (const [, warp, line, space, operation, , offsets] of level) {
      offsets.forEach((offset, lane) => {
        if (offset === null) return
        const thread = warp * LANES + lane
        const slot = offset / SLOT
        if (operation === 'load') {
          loaded.set(thread, space === 'global' ? 1 : (loaded.get(thread) ?? 0) + holds[slot])
          if (space === 'shared') is.reads.push(slot)
          return
        }
        is.code = source[files[0]][line]
        is.threads.push(thread)
        if (space === 'global') is.sum = loaded.get(thread)
        else is.writes.push(slot)
        if (space === 'shared') holds[slot] = loaded.get(thread)
      })
    }
    return { ...is, holds: [...holds] }
  })
}

/** The slots that a level without barriers reads too early: with them they would hold more. */
export const staleOf = (levels, ahead, i) =>
  i === 0 ? [] : ahead[i].reads.filter((slot) => !ahead[i].writes.includes(slot) && ahead[i - 1].holds[slot] < levels[i - 1].holds[slot])

const warpsOf = (threads) => new Set(threads.map((thread) => Math.floor(thread / LANES))).size

export const trees = {
  plays: 'level',
  legend: () => [
    ['used', 'a thread that stores; a slot that it writes'],
    ['odd', 'a slot that is read'],
    ['moved', 'a thread of the same warp, a slot: not in this step'],
    ['empty', 'a warp without a thread that stores'],
    ['stale', 'a slot that is read too early: it lacks values'],
  ],
  controls: ({ kernels }) => [
    {
      name: 'level',
      label: 'Step',
      values: kernels[0].levels.map((_, i) => i),
      show: (v) => (v === 0 ? 'each thread stores a value' : v === kernels[0].levels.length - 1 ? 'one thread stores the sum' : `level ${v}`),
    },
  ],
  draw({ level, barriers }, { kernels }, width) {
    const cell = width / LANES
    const box = (kind, i, y) => `<rect class="${kind}" x="${(i % LANES) * cell + cell / 10}" y="${y}" width="${0.8 * cell}" height="${ROW - 3}"/>`
    let svg = ''
    let y = 0
    const write = (kind, text) => {
      const written = lines(kind, text, y, width)
      svg += written.svg
      y = written.y
    }
    const says = kernels.map(({ name, levels, ahead, report }) => {
      const { code, threads, reads, writes, holds, sum } = (barriers ? levels : ahead)[level]
      const stale = barriers ? [] : staleOf(levels, ahead, level)
      svg += `<text class="name" x="0" y="${(y += TITLE) - 5}">${name}</text>`
      write('code', code)
      write('note', 'threads')
      for (let warp = 0; warp * LANES < holds.length; warp++, y += ROW) {
        const idle = !threads.some((thread) => Math.floor(thread / LANES) === warp)
        for (let t = warp * LANES; t < (warp + 1) * LANES; t++) svg += box(threads.includes(t) ? 'used' : idle ? 'empty' : 'moved', t, y)
      }
      y += 2
      write('note', cell >= 20 ? 'slots, with the number of values in each' : 'slots')
      holds.forEach((count, slot) => {
        if (slot > 0 && slot % LANES === 0) y += ROW
        const kind = stale.includes(slot) ? 'stale' : writes.includes(slot) ? 'used' : reads.includes(slot) ? 'odd' : 'moved'
        svg += box(kind, slot, y)
        if (cell >= 20) svg += `<text class="in ${kind}" x="${((slot % LANES) + 0.5) * cell}" y="${y + ROW - 5}">${count}</text>`
      })
      y += ROW + 8
      if (!barriers) {
        for (const line of report) write('code', line)
        y += 8
      }
      const who = `${plural(threads.length, 'thread')} of ${plural(warpsOf(threads), 'warp')}`
      return `${name}: ${who} ${sum ? `stores the sum of ${sum} of ${holds.length} values` : level === 0 ? 'store a value each' : threads.length === 1 ? 'adds' : 'add'}${stale.length > 0 && !sum ? `, and ${stale.length} of the sums read ${stale.length === 1 ? 'lacks' : 'lack'} values` : ''}`
    })
    return { svg, height: y, says: `${barriers ? '' : 'Without the barriers in the loops, when the first warp runs ahead: '}${says.join('; ')}.` }
  },
}
