// SPDX-License-Identifier: MIT
// What a request of a warp costs, by the rules of common/cpu/xray/model.h. `offsets` are those of its 32 lanes, in bytes
// from the start of an array that begins at a line; null for a lane that is not active. tests/tools/explore.test.sh
// compares with X-ray's stored counts.

export const LANES = 32
export const WORD = 4 // bytes, as all sizes here
export const BANKS = 32
export const SECTOR = 32
export const LINE = 128

/** The sectors that the lanes touch, in order: a Map from the number of the sector to the lanes that touch it. */
export function sectorsOf(offsets, bytes) {
  const touched = new Map()
  offsets.forEach((offset, lane) => {
    if (offset === null) return
    for (let s = Math.floor(offset / SECTOR); s <= Math.floor((offset + bytes - 1) / SECTOR); s++) {
      touched.set(s, [...(touched.get(s) ?? []), lane])
    }
  })
  return new Map([...touched].sort(([a], [b]) => a - b))
}

/** Whether all pairs of active lanes whose numbers differ by that bit want the same. */
function pairsAgree(offsets, bit) {
  return offsets.every((offset, lane) => offset === null || offsets[lane ^ bit] === null || offset === offsets[lane ^ bit])
}

/**
 * The passes through the banks that a load or store takes, in order: for each a Map from a bank to the lanes that its
 * word goes to. Elements of 8 bytes go to one half of the warp after the other, of 16 bytes to one quarter; where
 * neighbours of a load want the same, or lanes two apart, to twice as many lanes.
 */
export function passesOf(offsets, bytes, operation = 'load') {
  let parts = Math.max(1, bytes / WORD)
  if (parts > 1 && operation === 'load' && (pairsAgree(offsets, 1) || pairsAgree(offsets, 2))) parts /= 2
  const passes = []
  for (let part = 0; part < parts; part++) {
    const words = new Map()
    for (let lane = (part * LANES) / parts; lane < ((part + 1) * LANES) / parts; lane++) {
      if (offsets[lane] === null) continue
      const last = Math.floor((offsets[lane] + bytes - 1) / WORD)
      for (let word = Math.floor(offsets[lane] / WORD); word <= last; word++) words.set(word, [...(words.get(word) ?? []), lane])
    }
    const turns = new Map() // how many words a bank has delivered in this part
    const first = passes.length
    for (const [word, lanes] of [...words].sort(([a], [b]) => a - b)) {
      const bank = word % BANKS
      const turn = turns.get(bank) ?? 0
      turns.set(bank, turn + 1)
      passes[first + turn] = (passes[first + turn] ?? new Map()).set(bank, lanes)
    }
  }
  return passes
}
