// SPDX-License-Identifier: MIT
// Questions of a lesson and of its quiz: a reader answers by a number, which is compared, or by one of several choices, of
// which each says why it fails. The browser keeps the answer.

import { h, nextTick, onMounted, ref } from 'vue'
import { kept } from './progress.mjs'

// How often the unit that an answer is in goes into the one that was typed; the same word goes once.
const IN_NANOSECONDS = { ns: 1, µs: 1e3, μs: 1e3, us: 1e3, ms: 1e6, s: 1e9 }
const IN_GIGA = { M: 1e-3, G: 1, T: 1e3 }

function scale(typed, unit) {
  if (!typed || !unit || typed === unit) return 1
  if (IN_NANOSECONDS[typed] && IN_NANOSECONDS[unit]) return IN_NANOSECONDS[typed] / IN_NANOSECONDS[unit]
  const [rate, other] = [typed, unit].map((word) => /^([MGT])(B|FLOP)\/s$/.exec(word))
  if (rate && other && rate[2] === other[2]) return IN_GIGA[rate[1]] / IN_GIGA[other[1]]
  // A factor may end in "x"; a unit of another kind leaves nothing to compare.
  if (unit === 'times') return /^(x|times|-?fold)$/.test(typed) ? 1 : NaN
  return /^(ns|[µμum]?s|%|x|times|[MGT](B|FLOP)\/s)$/.test(typed) ? NaN : 1
}

/** The number at the beginning of what was typed, in the unit of the answer; NaN if there is none. */
export function guessed(text, unit) {
  const match = /^[~≈\s]*(\d[\d.,]*)\s*([^\s\d.,;]*)/.exec(text)
  if (!match) return NaN
  const digits = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(match[1]) ? match[1].replace(/,/g, '') : match[1].replace(/[.,]$/, '').replace(',', '.')
  return Number(digits) * scale(match[2], unit)
}

/** How far a number is from the right value, in words: `exact` says that there is nothing between, `it` what the number is. */
function factor(number, value, { exact, it }) {
  if (number === value) return exact
  const side = `the ${it} is too ${number > value ? 'high' : 'low'}`
  if (!(number > 0) || !(value > 0)) return side
  const size = Math.max(number, value) / Math.min(number, value)
  if (size < 1.005) return exact
  const digits = size < 10 ? size.toPrecision(size < 1.1 ? 3 : 2) : Math.round(size).toLocaleString('en')
  return `${digits}, ${side}`
}

const shown = (value) => (Number(value) >= 1000 ? Number(value).toLocaleString('en') : value)
const pair = (name, text, more = {}) => h('div', more, [h('dt', name), h('dd', text)])

/** One number that is asked for, `alone` or beside others: its field, what is wrong with a text, and how it compares. */
function numberOf({ value, unit = '', label = '' }, id, alone, words) {
  const unitBehind = unit && unit !== 'times' && !label
  return {
    label: label && !alone ? label : [words.your, label || (unitBehind && `in ${unit}`)].filter(Boolean).join(', '),
    behind: unit === 'times' || (label && unit) ? unit : '',
    id,
    complaint: (text) => (Number.isNaN(guessed(text, unit)) ? `A number${unit ? ` (${unit})` : ''} can be compared, such as 2.5 or 1,000.` : ''),
    pairs(text) {
      const typed = /^[\d.,]+$/.test(text) && unit ? `${text} ${unit}` : text
      return [
        pair(label ? `${label}: ${words.your.toLowerCase()}` : words.your, typed),
        pair(words.right, `${shown(value)} ${unit}`.trim()),
        pair('Factor between', factor(guessed(text, unit), Number(value), words)),
      ]
    },
    right: () => pair(label || words.right, `${shown(value)} ${unit}`.trim()),
  }
}

/** The places of the choices in alphabetical order: the one in the file may give the right one away. */
function alphabetical(choices) {
  const words = choices.map(({ text }) => text.replace(/<[^>]*>/g, ''))
  return choices.map((_, i) => i).sort((a, b) => words[a].localeCompare(words[b], 'en', { numeric: true }))
}

// What a guess and a question of the quiz say.
const WORDS = {
  guess: { it: 'guess', your: 'Your guess', right: 'It is', is: 'It is', exact: '1', others: 'Others might think', again: 'Guess again', group: 'Guess and result' },
  quiz: { it: 'answer', your: 'Your answer', right: 'Right', is: 'Right', exact: '1', others: 'Why the others fail', again: 'Answer again', group: 'Answer and explanation' },
}

/**
 * One question: `asked` is JSON, { numbers: [{ value, unit, label }] } or { choices: [{ text, why }] } of which the one
 * without `why` is right. The default slot waits until it is answered; `name` is what the browser keeps the answer under.
 */
function question(kind) {
  const words = WORDS[kind]
  return {
    props: { name: String, asked: String },
    setup(props, { slots }) {
      const { numbers, choices } = JSON.parse(props.asked)
      const order = choices && alphabetical(choices)
      const key = `${kind} ${props.name}`
      const id = `${kind}-${props.name.replace(/^.*#/, '').replace(/\W+/g, '-')}`
      const fields = (numbers ?? []).map((asked, i) => numberOf(asked, i ? `${id}-${i + 1}` : id, numbers.length === 1, words))
      const typed = ref(fields.map(() => ''))
      const chosen = ref('')
      const answer = ref(null) // what was answered; '' when the reader only asked to be shown
      const complaint = ref('')
      const box = ref(null)
      onMounted(() => {
        const before = kept(key)
        const fits = choices ? choices[Number(before) - 1] : fields.every((field, i) => !field.complaint((before ?? '').split('\n')[i] ?? ''))
        answer.value = before && !fits ? '' : before // what an earlier form of the question took
      })
      const focus = (selector) => nextTick(() => box.value?.querySelector(selector)?.focus({ preventScroll: true }))
      const show = (text) => {
        complaint.value = ''
        answer.value = text
        kept(key, text)
        focus('.guess-result')
      }
      const again = () => {
        const before = answer.value ? answer.value.split('\n') : []
        typed.value = fields.map((_, i) => before[i] ?? '')
        chosen.value = choices && before[0] ? before[0] : ''
        answer.value = null
        kept(key, null)
        focus('input')
      }
      const submit = (event) => {
        event.preventDefault()
        if (choices) return chosen.value ? show(chosen.value) : null
        const texts = typed.value.map((text) => text.trim())
        complaint.value = fields.map((field, i) => (texts[i] ? field.complaint(texts[i]) : '')).find(Boolean) ?? ''
        if (complaint.value) return focus('input')
        if (texts.every(Boolean)) show(texts.join('\n'))
      }
      const buttons = () => [
        h('button', { class: 'guess-compare', type: 'submit' }, 'Compare'),
        h('button', { class: 'guess-show', type: 'button', onClick: () => show('') }, 'Show'),
      ]
      const entry = (field, i) =>
        h('span', { class: 'guess-entry' }, [
          h('label', { for: field.id }, field.label),
          h('input', {
            id: field.id,
            value: typed.value[i],
            onInput: (event) => (typed.value[i] = event.target.value),
            autocomplete: 'off',
            inputmode: 'decimal',
            required: true,
            'aria-describedby': `${id}-complaint`,
          }),
          field.behind ? h('span', field.behind) : null,
        ])
      const option = (i) =>
        h('label', { class: 'guess-choice' }, [
          h('input', { type: 'radio', name: id, value: `${i + 1}`, checked: chosen.value === `${i + 1}`, required: true, onChange: () => (chosen.value = `${i + 1}`) }),
          h('span', { innerHTML: choices[i].text }),
        ])
      const form = () =>
        h('form', { class: ['guess-form', { chooses: choices }], novalidate: !choices, onSubmit: submit }, [
          choices ? h('fieldset', [h('legend', words.your), ...order.map(option)]) : fields.map(entry),
          h('span', { class: 'guess-buttons' }, buttons()),
          h('span', { class: 'guess-complaint', id: `${id}-complaint`, role: 'alert' }, complaint.value),
        ])
      const results = () => {
        if (!choices) {
          const given = answer.value ? answer.value.split('\n') : []
          return fields.map((field, i) => h('dl', given[i] ? field.pairs(given[i]) : [field.right()]))
        }
        const is = choices.findIndex(({ why }) => !why)
        const yours = Number(answer.value) - 1
        const one = (i) => h('span', { innerHTML: choices[i].text })
        return [
          h('dl', [
            choices[yours] ? pair(words.your, [one(yours), yours === is ? ' ✓' : ' ✗'], { class: yours === is ? 'hit' : 'missed' }) : null,
            yours === is ? null : pair(words.is, one(is)),
          ]),
          h('div', { class: 'guess-others' }, [
            h('p', words.others),
            h('ul', order.filter((i) => i !== is).map((i) => h('li', { class: { yours: i === yours }, innerHTML: `<b>${choices[i].text}</b>: ${choices[i].why}` }))),
          ]),
        ]
      }
      const result = () =>
        h('div', { class: 'guess-result', tabindex: '-1', role: 'group', 'aria-label': words.group }, [
          results(),
          h('button', { class: 'guess-again', type: 'button', onClick: again }, words.again),
        ])
      return () =>
        h('div', { class: ['guess-first', kind, { shown: answer.value !== null }], ref: box }, [
          answer.value === null ? form() : result(),
          h('div', { class: 'waits' }, slots.default?.()),
        ])
    },
  }
}

/**
 * What follows a question of a lesson waits until the reader has guessed, or asked to be shown. Without JavaScript, and on
 * paper, nothing waits: style.css hides it only below the class "guesses", which config.mjs sets by a script.
 */
export const GuessFirst = question('guess')
/** A question at a lesson's end, whose explanation waits. On paper only what was answered is explained. */
export const QuizQuestion = question('quiz')
