// SPDX-License-Identifier: MIT
// VitePress's own theme with the system's fonts, what style.css changes, guesses that come before results, and
// pictures that a reader can explore, and boxes to tick.

import DefaultTheme from 'vitepress/theme-without-fonts'
import { h, nextTick, onMounted, ref } from 'vue'
import { TickDone, followProgress, kept } from './progress.mjs'
import './style.css'
import './phone.css'
import { showEdges } from './edges.mjs'
import { Missing } from './missing.mjs'
import { showTerms } from './terms.mjs'

// How often the unit that an answer is in goes into the one that was typed; the same word goes once.
const IN_NANOSECONDS = { ns: 1, µs: 1e3, μs: 1e3, us: 1e3, ms: 1e6, s: 1e9 }
const IN_GIGA = { M: 1e-3, G: 1, T: 1e3 }

function scale(typed, unit) {
  if (!typed || typed === unit) return 1
  if (IN_NANOSECONDS[typed] && IN_NANOSECONDS[unit]) return IN_NANOSECONDS[typed] / IN_NANOSECONDS[unit]
  const [rate, other] = [typed, unit].map((word) => /^([MGT])(B|FLOP)\/s$/.exec(word))
  if (rate && other && rate[2] === other[2]) return IN_GIGA[rate[1]] / IN_GIGA[other[1]]
  // A factor may end in "x"; a unit of another kind leaves nothing to compare.
  if (unit === 'times') return /^(x|times|-?fold)$/.test(typed) ? 1 : NaN
  return /^(ns|[µμum]?s|%|x|times|[MGT](B|FLOP)\/s)$/.test(typed) ? NaN : 1
}

/** The number at the beginning of what was typed, in the unit of the answer; NaN if there is none. */
function guessed(text, unit) {
  const match = /^[~≈\s]*(\d[\d.,]*)\s*([^\s\d.,;]*)/.exec(text)
  if (!match) return NaN
  const digits = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(match[1]) ? match[1].replace(/,/g, '') : match[1].replace(/[.,]$/, '').replace(',', '.')
  return Number(digits) * scale(match[2], unit)
}

/** How far a guess is from the measured value, in words; null where that makes no sense. */
function factor(text, value, unit) {
  const guess = guessed(text, unit)
  if (!(guess > 0) || !(value > 0)) return null
  const size = Math.max(guess, value) / Math.min(guess, value)
  if (size < 1.005) return '1, as measured'
  const digits = size < 10 ? size.toPrecision(size < 1.1 ? 3 : 2) : Math.round(size).toLocaleString('en')
  return `${digits}, the guess is too ${guess > value ? 'high' : 'low'}`
}

/**
 * What follows a question waits until the reader has guessed, or asked to be shown. Without JavaScript, and on
 * paper, nothing waits: style.css hides it only below the class "guesses", which config.mjs sets by a script.
 */
const GuessFirst = {
  props: { name: String, value: String, unit: String },
  setup(props, { slots }) {
    const key = `guess ${props.name}`
    const id = `guess-${props.name.split('#')[1]}`
    const typed = ref('')
    const guess = ref(null) // what was typed; '' when the reader only asked to be shown
    const box = ref(null)
    onMounted(() => (guess.value = kept(key)))
    const focus = (selector) => nextTick(() => box.value?.querySelector(selector)?.focus({ preventScroll: true }))
    const show = (text) => {
      guess.value = text
      kept(key, text)
      focus('.guess-result')
    }
    const again = () => {
      typed.value = guess.value ?? ''
      guess.value = null
      kept(key, null)
      focus('input')
    }
    const submit = (event) => {
      event.preventDefault()
      if (typed.value.trim()) show(typed.value.trim())
    }
    const isNumber = () => props.value !== undefined
    const hasUnit = () => isNumber() && props.unit !== ''
    const form = () =>
      h('form', { class: 'guess-form', onSubmit: submit }, [
        h('label', { for: id }, hasUnit() && props.unit !== 'times' ? `Your guess, in ${props.unit}` : 'Your guess'),
        h('span', { class: 'guess-entry' }, [
          h('input', {
            id,
            value: typed.value,
            onInput: (event) => (typed.value = event.target.value),
            autocomplete: 'off',
            inputmode: isNumber() ? 'decimal' : 'text',
            required: true,
          }),
          isNumber() && props.unit === 'times' ? h('span', 'times') : null,
        ]),
        h('button', { class: 'guess-compare', type: 'submit' }, 'Compare'),
        h('button', { class: 'guess-show', type: 'button', onClick: () => show('') }, 'Show'),
      ])
    const pair = (name, text) => h('div', [h('dt', name), h('dd', text)])
    const measured = () => {
      const number = Number(props.value)
      return `${number >= 1000 ? number.toLocaleString('en') : props.value} ${props.unit}`.trim()
    }
    const withUnit = (text) => (/^[\d.,]+$/.test(text) && hasUnit() ? `${text} ${props.unit}` : text)
    const result = () => {
      const far = guess.value && isNumber() ? factor(guess.value, Number(props.value), props.unit) : null
      const pairs = guess.value ? [pair('Your guess', withUnit(guess.value))] : []
      if (isNumber()) pairs.push(pair('Measured', measured()))
      if (far) pairs.push(pair('Factor between', far))
      return h('div', { class: 'guess-result', tabindex: '-1', role: 'group', 'aria-label': 'Guess and result' }, [
        pairs.length > 0 ? h('dl', pairs) : null,
        h('button', { class: 'guess-again', type: 'button', onClick: again }, 'Guess again'),
      ])
    }
    return () =>
      h('div', { class: ['guess-first', { shown: guess.value !== null }], ref: box }, [
        guess.value === null ? form() : result(),
        h('div', { class: 'waits' }, slots.default?.()),
      ])
  },
}

/** A picture, and what it becomes where scripts run; these are loaded only where there is one. */
const ExploreFigure = {
  props: { src: String },
  setup(props, { slots }) {
    const figure = ref(null)
    onMounted(() => import('../../explore/element.mjs').catch(() => figure.value?.setAttribute('failed', '')))
    return () => h('explore-figure', { src: props.src, ref: figure }, slots.default?.())
  },
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(Missing) }),
  setup() {
    followProgress()
    showEdges()
    onMounted(showTerms)
  },
  enhanceApp({ app }) {
    app.component('GuessFirst', GuessFirst)
    app.component('ExploreFigure', ExploreFigure)
    app.component('TickDone', TickDone)
  },
}
