// SPDX-License-Identifier: MIT
// Chromium, as the looks at decks and at the site use it: puppeteer drives it, and each page gets a measure of contrast.

import { createRequire } from 'node:module'
import { resolve } from 'node:path'

/** Starts it. `packages` is the folder whose node_modules hold puppeteer: the slides'. */
export function openChromium(packages) {
  const puppeteer = createRequire(resolve(packages, 'package.json'))('puppeteer-core')
  return puppeteer.launch({
    executablePath: process.env.CHROME_PATH,
    args: process.env.CHROME_NO_SANDBOX ? ['--no-sandbox'] : [],
  })
}

/** Hears what goes wrong on a page by itself: scripts that fail, messages on the console. */
export function listen(page, complain) {
  page.on('pageerror', (error) => complain(`a script fails: ${String(error.message).split('\n')[0]}`))
  page.on('console', (message) => {
    // What does not load is told otherwise, by its address.
    const isAbout = ['error', 'warn', 'warning'].includes(message.type()) && !/^Failed to load resource/.test(message.text())
    if (isAbout) complain(`the console says: ${message.text().split('\n')[0].slice(0, 120)}`)
  })
}

/**
 * Runs in a page, before anything looks there: page.evaluate(addContrast). Then contrastOf(element) is what its text has:
 * { ratio, needed, size, key }. By WCAG 2 AA, after transparency; text on an image has no ratio. Texts with the same key
 * look the same.
 */
export function addContrast() {
  const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const known = new Map()
  const channels = (css) => {
    if (!known.has(css)) {
      pixel.clearRect(0, 0, 1, 1)
      pixel.fillStyle = css
      pixel.fillRect(0, 0, 1, 1)
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data
      known.set(css, { r, g, b, a: a / 255 })
    }
    return known.get(css)
  }
  const over = (top, below) => {
    const mix = (name) => top[name] * top.a + below[name] * (1 - top.a)
    return { r: mix('r'), g: mix('g'), b: mix('b'), a: 1 }
  }
  const around = (element) => element.parentElement ?? element.getRootNode().host
  const behind = (element) => {
    if (!element) return { r: 255, g: 255, b: 255, a: 1 }
    const own = getComputedStyle(element)
    if (own.backgroundImage !== 'none') return null
    const color = channels(own.backgroundColor)
    const below = color.a < 1 && behind(around(element))
    return below ? over(color, below) : color.a < 1 ? null : color
  }
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  window.contrastOf = (element) => {
    const own = getComputedStyle(element)
    let opacity = 1
    for (let e = element; e; e = around(e)) opacity *= Number(getComputedStyle(e).opacity)
    const size = parseFloat(own.fontSize)
    const needed = size >= 24 || (size >= 18.66 && Number(own.fontWeight) >= 700) ? 3 : 4.5
    const background = behind(element)
    const key = [own.color, opacity, JSON.stringify(background), size, own.fontWeight].join()
    if (!background) return { ratio: null, needed, size, opacity, key }
    const color = channels(own.color)
    const pair = [luminance(over({ ...color, a: color.a * opacity }, background)), luminance(background)]
    return { ratio: (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), needed, size, opacity, key }
  }
}
