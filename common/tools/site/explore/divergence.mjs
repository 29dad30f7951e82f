// SPDX-License-Identifier: MIT
// Which lanes of a warp are at work, step by step, as X-ray saw a warp come by the lines of a kernel (`paths` of
// common/cpu/xray/events.h).

import { LANES, bitsOf } from './events.mjs'
import { codeAndNote, inSteps, number } from './words.mjs'

const MOST = 40 // stops of the slider
const [LEFT, TOP, ROW] = [24, 16, 5] // pixels: beside the lanes, above them, a lane

/** The steps of a kernel's first warp: [line of code, mask of the lanes that are there together]. */
export function stepsOf({ files, source, paths }) {
  const codeOf = (line) => (Array.isArray(line) ? source[files[line[0]]][line[1]] : source[files[0]][line])
  return paths.filter(([, warp]) => warp === 0).map(([, , line, mask]) => [codeOf(line), mask])
}

/** Of many steps as many go together as leave a slider that can be moved through; a loop's turn has eight. */
export function lanesStops({ trace }, { traces }) {
  const { length } = traces[trace].steps
  const together = length <= MOST ? 1 : Math.max(2, 8 * Math.round(length / MOST / 8))
  return Array.from({ length: Math.ceil(length / together) }, (_, i) => ({ first: i * together, last: Math.min((i + 1) * together, length) - 1 }))
}

export const divergence = {
  ...inSteps(LEFT, lanesStops),
  legend: () => [['used', 'at work'], ['moved', 'waiting for others of the warp'], ['odd', 'at work in this step']],
  draw({ trace, step }, { traces }, width) {
    const { label, codes, steps } = traces[trace]
    const wide = (width - LEFT) / steps.length
    const box = (first, count, lane) => `M${first} ${lane}h${count}v.8h-${count}z`
    const drawn = (kind, d) => `<path class="${kind}" transform="translate(${LEFT} ${TOP}) scale(${wide} ${ROW})" d="${d}"/>`
    let work = ''
    for (let lane = 0; lane < LANES; lane++) {
      let first = 0
      steps.forEach(([, mask], i) => {
        if (!((mask >>> lane) & 1)) first = i + 1
        else if (i + 1 === steps.length || !((steps[i + 1][1] >>> lane) & 1)) work += box(first, i + 1 - first, lane)
      })
    }
    const [code, mask] = steps[step]
    const now = bitsOf(mask)
    const bottom = TOP + LANES * ROW
    const svg = `<text class="end" x="${LEFT - 6}" y="${TOP + 8}">0</text><text class="end" x="${LEFT - 6}" y="${bottom}">31</text>
      <text x="${LEFT}" y="11">lanes, step by step</text>
      <rect class="moved" x="${LEFT}" y="${TOP}" width="${width - LEFT}" height="${LANES * ROW}"/>${drawn('used', work)}
      ${drawn('odd filled', now.map((lane) => box(step, 1, lane)).join(''))}
      <rect class="frame" x="${LEFT + step * wide - 1}" y="${TOP - 1}" width="${wide + 2}" height="${LANES * ROW + 2}"/>`
    const note = 'Steps are an order, not time, and a GPU may take the paths in another order.'
    const below = codeAndNote(codes[code], note, bottom + 8, width)
    const average = steps.reduce((sum, [, m]) => sum + bitsOf(m).length, 0) / steps.length
    const stops = lanesStops({ trace }, { traces })
    const place = stops.findLastIndex(({ first }) => first <= step) + 1
    const says = `${label}, step ${place} of ${stops.length}: ${now.length} of ${LANES} lanes are at work; ${number(average)} on average over all steps.`
    return { svg: svg + below.svg, height: below.height, says }
  },
}
