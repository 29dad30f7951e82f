// SPDX-License-Identifier: MIT
// <explore-figure src="figures/NAME.json"> with a picture inside: the reader changes what the picture shows. Until the
// data are there, on paper and without scripts the picture stands there itself. A script may set the data as `given`.
//
// What can be explored is an object:
//   controls(data)             sliders: { name, label, values, show(value, state, data) }; `values` may be a function of
//                              state and data
//   draw(state, data, width)   what the state looks like: { svg, height, says }, with `says` for those who do not see it
//   press({ x, y }, state, data, width)   may be missing: what changes where the pointer presses or is dragged
//   legend(data)               may be missing: what the colours mean, pairs of a class of style.css and words
//   plays                      may be missing: the name of the slider that goes on by itself, from its end back to its beginning
//   leaps(state, data)         may be missing: buttons that lead to a value of that slider, { label, to }
// The data have a `start`, the first state, and `presets`, buttons: { label, state }. A slider or a button may say `when`,
// in which state it is there.

import { divergence } from './divergence.mjs'
import { fragments, swizzle } from './fragments.mjs'
import { latency } from './latency.mjs'
import { pipeline } from './pipeline.mjs'
import { banks, coalescing } from './requests.mjs'
import { trees } from './trees.mjs'
import { blocks, waves } from './waves.mjs'
import style from './style.css?inline'

const FIGURES = { banks, blocks, coalescing, divergence, fragments, latency, pipeline, swizzle, trees, waves }
const PACE = 700 // ms from one value to the next

const made = (parent, name, attributes = {}, text = '') => {
  const element = parent.appendChild(document.createElement(name))
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}

class ExploreFigure extends HTMLElement {
  async connectedCallback() {
    if (this.shadowRoot) return
    this.attachShadow({ mode: 'open' }).innerHTML = '<slot></slot>'
    try {
      this.show(this.given ?? (await this.fetched()))
    } catch (error) {
      console.error(error)
      this.setAttribute('failed', '')
    }
  }

  async fetched() {
    const answer = await fetch(this.getAttribute('src'))
    if (!answer.ok) throw new Error(`${answer.url}: status ${answer.status}`)
    return answer.json()
  }

  show({ kind, keeps, ...data }) {
    this.figure = FIGURES[kind]
    this.data = data
    this.state = { ...data.start }
    made(this.shadowRoot, 'style', {}, style)
    this.toggleAttribute('keeps', Boolean(keeps))
    const name = this.querySelector('img').alt
    const box = made(this.shadowRoot, 'div', { class: 'figure', role: 'group', 'aria-label': name })
    const presets = made(box, 'div', { class: 'presets' })
    this.buttons = data.presets.map(({ label, state, when }) => {
      const part = made(presets, 'button', { type: 'button' }, label)
      part.onclick = () => {
        this.pause()
        this.change(state)
        if (part.hidden) box.querySelector('label:not([hidden]) input, button:not([hidden])').focus()
      }
      return { part, when }
    })
    const sliders = made(box, 'div', { class: 'sliders' })
    this.sliders = this.figure.controls(data).map((control) => {
      const label = made(sliders, 'label')
      made(label, 'span', { class: 'name' }, control.label)
      const value = made(label, 'span', { class: 'value', 'aria-hidden': 'true' })
      const input = made(label, 'input', { type: 'range', min: 0, step: 1, 'aria-label': control.label })
      input.oninput = () => {
        this.pause()
        this.change({ [control.name]: this.valuesOf(control)[input.value] })
      }
      return { control, value, input, part: label, when: control.when }
    })
    this.ways = this.figure.plays ? this.waysOn(sliders) : []
    if (this.figure.legend) {
      const legend = made(box, 'ul', { class: 'legend', 'aria-hidden': 'true' })
      for (const [kind, words] of this.figure.legend(data)) {
        const item = made(legend, 'li')
        made(item, 'i', { class: kind })
        item.append(words)
      }
    }
    this.svg = box.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'svg'))
    this.svg.setAttribute('aria-hidden', 'true')
    this.says = made(box, 'p', { role: 'status' })
    this.svg.classList.toggle('pressable', Boolean(this.figure.press))
    this.svg.onpointerdown = this.svg.onpointermove = (event) => {
      if (!this.figure.press || !event.buttons) return
      this.pause()
      const { left, top, width } = this.svg.getBoundingClientRect()
      const scale = this.svg.clientWidth / width // less than 1 where the figure is magnified
      this.change(this.figure.press({ x: (event.clientX - left) * scale, y: (event.clientY - top) * scale }, this.state, data, width * scale))
    }
    this.setAttribute('ready', '')
    new ResizeObserver(() => this.draw()).observe(box)
  }

  /** The buttons beside the slider that plays: on and off, and where else one can go from here. */
  waysOn(parent) {
    const { control } = this.sliders.find((slider) => slider.control.name === this.figure.plays)
    const row = made(parent, 'span', { class: 'ways' })
    const toValue = (value) => this.change({ [control.name]: value })
    this.play = made(row, 'button', { type: 'button' }, 'Play')
    const goOn = () => {
      const values = this.valuesOf(control)
      const next = values.indexOf(this.state[control.name]) + 1
      toValue(values[next % values.length])
      if (next === values.length - 1) this.pause()
    }
    this.play.onclick = () => {
      if (this.playing) return this.pause()
      goOn()
      this.playing = setInterval(() => (this.isConnected ? goOn() : this.pause()), PACE)
      this.play.textContent = 'Pause'
    }
    const count = this.figure.leaps?.(this.state, this.data).length ?? 0
    return Array.from({ length: count }, (_, i) => {
      const part = made(row, 'button', { type: 'button' })
      part.onclick = () => {
        this.pause()
        toValue(this.figure.leaps(this.state, this.data)[i].to)
      }
      return part
    })
  }

  pause() {
    clearInterval(this.playing)
    this.playing = null
    if (this.play) this.play.textContent = 'Play'
  }

  valuesOf({ values }) {
    return typeof values === 'function' ? values(this.state, this.data) : values
  }

  change(state) {
    Object.assign(this.state, state)
    this.draw()
  }

  draw() {
    for (const { part, when = {} } of [...this.buttons, ...this.sliders]) {
      part.hidden = Object.entries(when).some(([key, value]) => this.state[key] !== value)
    }
    for (const { control, value, input } of this.sliders) {
      const values = this.valuesOf(control)
      const found = values.indexOf(this.state[control.name])
      this.state[control.name] = values[found < 0 ? 0 : found]
      input.max = values.length - 1
      input.value = Math.max(found, 0)
      value.textContent = control.show(this.state[control.name], this.state, this.data)
      input.setAttribute('aria-valuetext', value.textContent)
    }
    this.ways.forEach((part, i) => (part.textContent = this.figure.leaps(this.state, this.data)[i].label))
    const width = this.svg.clientWidth
    if (width <= 0) return // folded away
    const { svg, height, says } = this.figure.draw(this.state, this.data, width)
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    this.svg.setAttribute('height', height)
    this.svg.innerHTML = svg
    if (this.says.textContent !== says) this.says.textContent = says
  }
}

customElements.define('explore-figure', ExploreFigure)
