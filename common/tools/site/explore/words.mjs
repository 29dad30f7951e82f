// SPDX-License-Identifier: MIT
// Words and numbers in the drawings, and what those have in common that go step by step.

const CODE = 6.7 // pixels: a letter of a line of code, at most
const LINE = 15

export const number = (value) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
export const plural = (count, noun, nouns = `${noun}s`) => `${number(count)} ${count === 1 ? noun : nouns}`

/** The words of a text in lines of at most that many letters. */
function wrapped(text, letters) {
  return text.split(' ').reduce((lines, word) => {
    const longer = lines.length > 0 && `${lines.at(-1)} ${word}`
    return longer && longer.length <= letters ? [...lines.slice(0, -1), longer] : [...lines, word]
  }, [])
}

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

/** A text below y, or a line of code without its comment: { svg, y }, with y below it. */
export function lines(kind, text, y, width) {
  const all = wrapped(kind === 'code' ? text.replace(/ *\/\/.*/, '') : text, Math.floor(width / CODE))
  const svg = all.map((line, i) => `<text class="${kind}" x="0" y="${y + (i + 1) * LINE - 5}">${escaped(line)}</text>`).join('')
  return { svg, y: y + all.length * LINE }
}

/** A line of code and a note below y, with gaps: { svg, height }. */
export function codeAndNote(code, note, y, width) {
  const first = lines('code', code, y, width)
  const second = lines('note', note, first.y + 4, width)
  return { svg: first.svg + second.svg, height: second.y + 4 }
}

/**
 * The slider of a drawing in steps, and where the pointer presses it; they stand side by side from x = `left` on. Steps that
 * belong together are one stop of the slider: `stopsOf` says which, in order, { first, last }; the state's `step` is the first.
 */
export const inSteps = (left, stopsOf) => ({
  plays: 'step',
  controls: (data) => [
    {
      name: 'step',
      label: 'Step',
      values: (state) => stopsOf(state, data).map(({ first }) => first),
      show: (v, state) => `${stopsOf(state, data).findIndex(({ first }) => first === v) + 1} of ${stopsOf(state, data).length}`,
    },
  ],
  press({ x }, state, data, width) {
    const stops = stopsOf(state, data)
    const step = ((x - left) / (width - left)) * (Math.max(...stops.map(({ last }) => last)) + 1)
    return { step: (stops.findLast(({ first }) => first <= step) ?? stops[0]).first }
  },
})
