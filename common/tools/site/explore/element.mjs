// SPDX-License-Identifier: MIT
// <explore-figure src="figures/NAME.json"> with a picture inside: the reader changes what the picture shows. Until the
// data are there, on paper and without scripts the picture stands there itself. A script may set the data as `given`.
//
// What can be explored is an object:
//   controls(data)             sliders: { name, label, values, show(value, state, data) }; `values` may be a function of
//                              state and data
//   draw(state, data, width)   what the state looks like: { svg, height, says }, with `says` for those who do not see it
//   press({ x, y }, state, data, width)   may be missing: what changes where the pointer presses or is dragged
// The data have a `start`, the first state, and `presets`, buttons: { label, state }. A slider or a button may say `when`,
// in which state it is there.

import { divergence } from './divergence.mjs'
import { latency } from './latency.mjs'
import { pipeline } from './pipeline.mjs'
import { banks, coalescing } from './requests.mjs'
import { trees } from './trees.mjs'
import style from './style.css?inline'

const FIGURES = { banks, coalescing, divergence, latency, pipeline, trees }

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
      input.oninput = () => this.change({ [control.name]: this.valuesOf(control)[input.value] })
      return { control, value, input, part: label, when: control.when }
    })
    this.svg = box.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'svg'))
    this.svg.setAttribute('aria-hidden', 'true')
    this.says = made(box, 'p', { role: 'status' })
    this.svg.classList.toggle('pressable', Boolean(this.figure.press))
    this.svg.onpointerdown = this.svg.onpointermove = (event) => {
      if (!this.figure.press || !event.buttons) return
      const { left, top, width } = this.svg.getBoundingClientRect()
      const scale = this.svg.clientWidth / width // less than 1 where the figure is magnified
      this.change(this.figure.press({ x: (event.clientX - left) * scale, y: (event.clientY - top) * scale }, this.state, data, width * scale))
    }
    this.setAttribute('ready', '')
    new ResizeObserver(() => this.draw()).observe(box)
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
