// SPDX-License-Identifier: MIT
// Reads X-ray's events, whose form stands in common/cpu/xray/events.h. What a request costs is X-ray's. The site's drawings
// import it; into the page of make xray HTML= its text is pasted (common/tools/run/xray.sh).

export const LANES = 32
export const [WORD, SECTOR, LINE] = [4, 32, 128] // bytes
export const BANKS = 32

export const upTo = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
/** The bits of a mask: lanes, or the bytes of a sector. */
export const bitsOf = (mask) => upTo(0, 31).filter((bit) => (mask >>> bit) & 1)

/**
 * What the banks do, pass by pass: [Map from a bank to { word, lanes }, ..]. `passes` says in which pass each lane is served,
 * `offsets` where it begins, null for a lane that is not active.
 */
export function banksOf(passes, offsets, bytes) {
  const served = []
  offsets.forEach((offset, lane) => {
    if (offset === null) return
    const banks = (served[passes[lane]] ??= new Map())
    for (const word of upTo(Math.floor(offset / WORD), Math.floor((offset + bytes - 1) / WORD))) {
      const bank = word % BANKS
      if (!banks.has(bank)) banks.set(bank, { word, lanes: [] })
      banks.get(bank).lanes.push(lane)
    }
  })
  return served
}

/** Parts of the warp that the banks serve one after the other: [{ first, last, passes: { number: what banks do } }]. */
function partsOf({ parts, passes }, offsets, bytes) {
  const lanes = LANES / parts
  return upTo(0, parts - 1).map((part) => {
    const first = part * lanes, last = first + lanes - 1
    const own = offsets.map((offset, lane) => (lane < first || lane > last ? null : offset))
    return { first, last, passes: { ...banksOf(passes, own, bytes) } }
  })
}

/** How a kernel's entries of "events" are read: with names, and offsets that are short written out. */
export const readerOf = ({ requests }) => ([step, warp, line, space, op, bytes, offsets, cost, request, start, name = '']) => {
  if (op === 'barrier') return { step, line, op }
  const [begin, distance] = offsets
  const all = offsets.length === 2 ? upTo(0, LANES - 1).map((lane) => begin + lane * distance) : offsets
  const lanes = [...all.keys()].filter((lane) => all[lane] !== null)
  const isAtomic = ['atomic', 'swap', 'increment'].includes(op)
  const { ideal, sectors, fetches, ...banks } = requests[request]
  return {
    step, warp, line, space, op, bytes, offsets: all, lanes, isAtomic, name, cost, ideal,
    sectors: sectors?.map(([array, from, column, who, which, turns]) => ({ array, line: start + from, column, lanes: bitsOf(who), bytes: bitsOf(which), turns })),
    fetches: fetches?.map(([byte, who]) => ({ byte: start + byte, lanes: bitsOf(who) })),
    parts: space === 'shared' ? partsOf(banks, all, isAtomic ? WORD : bytes) : undefined,
  }
}
