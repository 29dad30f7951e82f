// SPDX-License-Identifier: MIT
// Functions that run inside of a page, in Chromium, and say what is there to see. Each stands alone:
// puppeteer sends its text to the page.

/** The anchors, links and images of the page, and whether something is wrong with them. */
export function contents() {
  const excerpt = (text) => text.trim().replace(/\s+/g, ' ').slice(0, 40)
  const problems = []
  for (const image of document.querySelectorAll('img')) {
    const source = new URL(image.currentSrc || image.src, location.href).pathname
    if (image.offsetParent !== null && (!image.complete || image.naturalWidth === 0)) problems.push(`image ${source} does not load`)
    const isText = image.closest('main') !== null
    if (isText ? !image.alt.trim() : !image.hasAttribute('alt')) problems.push(`image ${source} has no text alternative`)
  }
  if (document.querySelectorAll('main h1').length !== 1) problems.push('not exactly one heading of the first level')
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = words.nextNode(); text; text = words.nextNode()) {
    if (!text.parentElement.closest('pre, code, script') && text.data.includes('<!--')) problems.push('a comment shows')
  }
  return {
    problems,
    ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
    links: [...document.links].map((a) => ({ href: a.href, text: excerpt(a.textContent) })),
  }
}

/** What makes the page scroll sideways, or null. Tables and code may, inside of their own box. */
export function tooWide() {
  const width = document.documentElement.clientWidth
  const excess = document.documentElement.scrollWidth - width
  if (excess <= 0) return null
  const scrolls = (element) => {
    for (let e = element.parentElement; e; e = e.parentElement) {
      if (e !== document.body && e !== document.documentElement && getComputedStyle(e).overflowX !== 'visible') return true
    }
    return false
  }
  const wide = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > width + 1 && !scrolls(e))
  const last = wide.at(-1)
  const what = last ? `<${last.nodeName.toLowerCase()}> ${last.textContent.trim().replace(/\s+/g, ' ').slice(0, 40)}` : '?'
  return `scrolls sideways: ${what}`
}

/** Text whose contrast is below AA, a line for each pair of colours. */
export function faintText() {
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
  const behind = (element) => {
    if (!element) return { r: 255, g: 255, b: 255, a: 1 }
    const color = channels(getComputedStyle(element).backgroundColor)
    return color.a === 1 ? color : over(color, behind(element.parentElement))
  }
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const opacityOf = (element) => {
    let opacity = 1
    for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity)
    return opacity
  }
  const problems = []
  const seen = new Set()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement
    if (!/[^\s\u200b]/.test(text.data) || !element.checkVisibility({ visibilityProperty: true })) continue
    if (element.closest('script, style, svg, [disabled]')) continue
    const own = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    if (box.width <= 1 || box.height <= 1) continue
    const opacity = opacityOf(element)
    if (opacity < 0.05) continue
    const background = behind(element)
    const key = [own.color, opacity, background.r, background.g, background.b, own.fontSize, own.fontWeight].join()
    if (seen.has(key)) continue
    seen.add(key)
    const color = channels(own.color)
    const shown = luminance(over({ ...color, a: color.a * opacity }, background))
    const ground = luminance(background)
    const ratio = (Math.max(shown, ground) + 0.05) / (Math.min(shown, ground) + 0.05)
    const size = parseFloat(own.fontSize)
    const needed = size >= 24 || (size >= 18.66 && Number(own.fontWeight) >= 700) ? 3 : 4.5
    const excerpt = text.data.trim().replace(/\s+/g, ' ').slice(0, 40)
    if (ratio < needed) problems.push(`"${excerpt}" has a contrast of ${ratio.toFixed(2)}, needed: ${needed}`)
  }
  return problems
}
