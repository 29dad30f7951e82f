// SPDX-License-Identifier: MIT
// What a request costs, by the rules of common/cpu/xray/model.h. Tests run this over what X-ray counted. The site's drawings
// import it; into the page of make xray HTML= its text is pasted (common/tools/run/xray.sh).

export const LANES = 32
export const [WORD, SECTOR, LINE] = [4, 32, 128] // bytes
export const BANKS = 32

/** An entry of "events" with names, and offsets that are short written out. */
export function eventOf([step, warp, line, space, op, bytes, offsets, cost, more = {}]) {
  const [first, distance] = offsets
  const all = offsets.length === 2 ? Array.from({ length: LANES }, (_, lane) => first + lane * distance) : offsets
  const lanes = [...all.keys()].filter((lane) => all[lane] !== null)
  // Where each lane's bytes lie; arrays are far from each other.
  const address = all.map((offset, lane) => (more.arrays && offset !== null
    ? more.arrays[lane] * 2 ** 40 + more.phases[more.arrays[lane]] + offset : offset))
  const isAtomic = ['atomic', 'swap', 'increment'].includes(op)
  return { step, warp, line, space, op, bytes, offsets: all, cost, lanes, address, isAtomic, landing: more.landing, name: more.name ?? '' }
}

/** The entry's lanes by what `keys` makes of each: a Map from key to [lane...]. */
function lanesBy(lanes, keys) {
  const found = new Map()
  for (const lane of lanes) for (const key of keys(lane)) found.set(key, [...(found.get(key) ?? []), lane])
  return found
}

export const upTo = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
const wordsOf = (e) => (lane) => upTo(Math.floor(e.address[lane] / WORD), Math.floor((e.address[lane] + e.bytes - 1) / WORD))
const longest = (lists) => Math.max(0, ...[...lists].map((list) => list.length))

/** Sectors: [{ line, column, lanes, bytes: which of the 32, turns }]. A line is 128 bytes. */
export function sectorsOf(e) {
  const sectors = new Map()
  for (const lane of e.lanes) {
    for (let i = 0; i < e.bytes; ++i) {
      const at = e.address[lane] + i
      let [line, place] = [Math.floor(at / LINE), at % LINE]
      // Word 0 of lanes 0 to 31, then word 1 of all lanes, and so on.
      if (e.space === 'local') [line, place] = [Math.floor(at / WORD), lane * WORD + at % WORD]
      if (e.op === 'copy') [line, place] = [Math.floor(e.address[lane] / LINE), e.landing[lane] + i]
      const column = Math.floor(place / SECTOR)
      const key = line + ':' + column
      if (!sectors.has(key)) sectors.set(key, { line, column, lanes: new Set(), bytes: new Set(), turns: 1 })
      sectors.get(key).lanes.add(lane)
      sectors.get(key).bytes.add(place % SECTOR)
    }
  }
  for (const sector of sectors.values()) {
    sector.lanes = [...sector.lanes]
    if (e.isAtomic && e.space !== 'local') sector.turns = longest(lanesBy(sector.lanes, (lane) => [e.address[lane]]).values())
  }
  return [...sectors.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}

/** Whether lanes whose numbers differ by this one bit want the same. */
const pairsAgree = (e, bit) => e.lanes.every((lane) =>
  e.offsets[lane ^ bit] === null || e.address[lane] === e.address[lane ^ bit])

/** Parts of the warp that the banks serve one after the other: [{ first, last, passes, banks: [[{ word, lanes }]] }]. */
export function partsOf(e) {
  let count = e.isAtomic ? 1 : Math.max(1, e.bytes / WORD)
  if (count > 1 && e.op === 'load' && (pairsAgree(e, 1) || pairsAgree(e, 2))) count /= 2
  return upTo(0, count - 1).map((part) => {
    const first = part * LANES / count, last = first + LANES / count - 1
    const lanes = e.lanes.filter((lane) => lane >= first && lane <= last)
    const banks = Array.from({ length: BANKS }, () => [])
    // Most atomics take a pass for each lane, even at the same word.
    const words = e.isAtomic && e.op !== 'increment'
      ? lanes.map((lane) => [Math.floor(e.address[lane] / WORD), [lane]])
      : [...lanesBy(lanes, wordsOf(e))].sort(([a], [b]) => a - b)
    for (const [word, who] of words) banks[word % BANKS].push({ word, lanes: who })
    return { first, last, passes: longest(banks) * (e.op === 'swap' && e.bytes === WORD ? 2 : 1), banks }
  })
}

/** { cost, and sectors, parts or words }: what this request asks for, and what it costs. */
export function requestOf(e) {
  const sum = (list, key) => list.reduce((all, item) => all + item[key], 0)
  if (e.space === 'shared') {
    const parts = partsOf(e)
    return { cost: sum(parts, 'passes'), parts }
  }
  if (e.space === 'const') {
    const words = [...lanesBy(e.lanes, (lane) => [e.address[lane]])].map(([address, lanes]) => ({ address, lanes }))
    return { cost: words.length, words }
  }
  const sectors = sectorsOf(e)
  return { cost: sum(sectors, 'turns'), sectors }
}

/** What the same bytes cost at best. */
export function idealOf(e) {
  const twice = e.op === 'swap' && e.bytes === WORD ? 2 : 1
  if (e.space === 'const') return 1
  if (e.space === 'shared' && e.isAtomic) return twice
  if (e.space === 'local') return requestOf({ ...e, address: e.address.map((a) => (a === null ? null : 0)) }).cost
  if (e.space === 'shared') return Math.ceil(lanesBy(e.lanes, wordsOf(e)).size / BANKS)
  // Distinct bytes: of neighbours that overlap, those up to the next one's first.
  const sorted = e.lanes.map((lane) => e.address[lane]).sort((a, b) => a - b)
  const bytes = sorted.reduce((all, at, i) => all + Math.min(e.bytes, (sorted[i + 1] ?? Infinity) - at), 0)
  return Math.ceil(bytes / SECTOR)
}
