// SPDX-License-Identifier: MIT
// Opens built decks in Chromium and looks at every slide. One line for each thing wrong, then exit 1.
//
//   CHROME_PATH=... node check.mjs PACKAGES DECK.html...
//
// PACKAGES is the folder of node_modules. Wrong are: things that run out of the slide or of their own box,
// a bar whose length is not its number, a figure that could be larger, text too small or of too little contrast, an image that does not load
// or has no text alternative, a slide without speaker notes, a picture that does not open, change or show large words
// when it is explored, or does not show that it can be, a message on the console, and anything fetched from elsewhere than the file itself.
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { addContrast, listen, openChromium } from '../site/browser.mjs'

const LIMITS = {
  smallestText: 16, // px of 720: what the back row reads
  notes: 40, // characters
  slack: 2, // px that rounding may take
}

// Runs in the page: what is wrong with the slide that is shown, as texts.
function lookAtSlide(index, limits) {
  const section = document.querySelectorAll('section[data-line]')[index]
  const found = []
  const excerpt = (node) => {
    const text = node.textContent.trim().replace(/\s+/g, ' ')
    return text ? `"${text.slice(0, 40)}${text.length > 40 ? '...' : ''}"` : `<${node.nodeName.toLowerCase()}>`
  }

  // Everything must lie inside of the slide's margins; header, footer and page number live in them.
  const box = section.getBoundingClientRect()
  const style = getComputedStyle(section)
  const scale = box.width / section.offsetWidth
  const inner = {
    left: box.left + parseFloat(style.paddingLeft) * scale,
    right: box.right - parseFloat(style.paddingRight) * scale,
    top: box.top + parseFloat(style.paddingTop) * scale,
    bottom: box.bottom - parseFloat(style.paddingBottom) * scale,
  }
  const worst = new Map()
  const texts = []
  const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node
    const skipped = element.closest('header, footer, button.explore, svg, mjx-assistive-mml')
    if (skipped && section.contains(skipped) && node !== element.closest('svg.picture')) continue
    let rectangles = []
    if (node.nodeType === Node.TEXT_NODE) {
      if (!node.data.trim()) continue
      texts.push(node)
      const range = document.createRange()
      range.selectNodeContents(node)
      rectangles = [...range.getClientRects()]
    } else if (node.matches('img, svg.picture, table, pre, mjx-container') || !/^rgba\(.*, 0\)$/.test(getComputedStyle(node).backgroundColor)) {
      rectangles = [node.getBoundingClientRect()]
    }
    for (const r of rectangles) {
      const past = { left: inner.left - r.left, right: r.right - inner.right, top: inner.top - r.top, bottom: r.bottom - inner.bottom }
      for (const [side, distance] of Object.entries(past)) {
        if (distance / scale > limits.slack && distance > (worst.get(side)?.distance ?? 0)) worst.set(side, { distance, node })
      }
    }
    if (node === element && getComputedStyle(element).overflowX !== 'visible') {
      const wide = element.scrollWidth - element.clientWidth
      const high = element.scrollHeight - element.clientHeight
      if (wide > limits.slack) found.push(`${excerpt(element)} is cut off: ${wide} px too wide for its box`)
      if (high > limits.slack) found.push(`${excerpt(element)} is cut off: ${high} px too high for its box`)
    }
  }
  for (const [side, { distance, node }] of worst) {
    found.push(`${excerpt(node)} runs ${Math.ceil(distance / scale)} px past the ${side} margin`)
  }

  // A bar is as long as its number, at one scale for all of a picture, and its text lies inside.
  for (const bar of section.querySelectorAll('rect.bar')) {
    const [first, { x, width }] = [bar.closest('svg').querySelector('rect.bar'), bar.getBBox()]
    const start = first.getBBox().x - (first.dataset.from * first.getBBox().width) / first.dataset.length
    const unit = first.getBBox().width / first.dataset.length
    const isTrue = Math.abs(width - bar.dataset.length * unit) < 0.5 && Math.abs(x - start - bar.dataset.from * unit) < 0.5
    if (!isTrue) found.push(`a bar of ${bar.dataset.length} is ${width.toFixed(1)} px long, and 1 is ${unit.toFixed(1)} px`)
    const text = bar.nextElementSibling
    if (text?.matches('text.in-bar') && text.getBBox().width > width) found.push(`${excerpt(text)} is wider than its bar`)
  }

  const parts = [...section.children].filter((part) => !part.matches('h1, header, footer, button.explore'))
  const isFigureAlone = parts.length === 1 && parts[0].matches('p:has(> img:only-child:not([style]))') && !parts[0].textContent.trim()
  if (isFigureAlone && !section.matches('.figure')) found.push('a figure that has the slide for itself does not fill it: the class figure is missing')
  for (const image of section.querySelectorAll('img')) {
    if (!image.complete || image.naturalWidth === 0) found.push(`an image does not load: ${image.src.slice(0, 60)}`)
    if (!image.alt.trim()) found.push('an image without a text alternative')
  }

  for (const margin of section.querySelectorAll('header, footer, button.explore')) {
    if (margin.textContent.trim()) texts.push(margin.firstChild)
  }
  const seen = new Set()
  for (const text of texts) {
    const { ratio, needed, size, key } = contrastOf(text.parentElement)
    if (seen.has(key)) continue
    seen.add(key)
    if (size < limits.smallestText) found.push(`${excerpt(text)} is ${size} px high: at least ${limits.smallestText}`)
    if (ratio === null) found.push(`${excerpt(text)} stands on a background image: its contrast is unknown`)
    else if (ratio < needed) found.push(`${excerpt(text)} has a contrast of ${ratio.toFixed(1)}: at least ${needed}`)
  }

  const note = document.querySelector(`.bespoke-marp-note[data-index="${index}"]`)
  const length = note ? note.textContent.trim().length : 0
  if (length === 0) found.push('no speaker notes')
  else if (length < limits.notes) found.push(`speaker notes of ${length} characters: at least ${limits.notes}`)
  return found
}

/** Pictures that can be explored, as a teacher uses them; `turned` says whether the deck shows another slide. */
async function explorePictures(page, turned) {
  const problems = []
  for (const picture of await page.$$('svg.bespoke-marp-active img[data-explore]')) {
    const says = () => page.$eval('dialog explore-figure', (figure) => figure.shadowRoot.querySelector('[role=status]').textContent)
    await picture.focus()
    await page.keyboard.press('Enter')
    const isOpen = await page.waitForSelector('dialog[open] explore-figure[ready]', { timeout: 5000 }).catch(() => null)
    if (!isOpen) {
      problems.push('a picture cannot be explored')
      continue
    }
    const smallest = await page.$eval('dialog', (dialog) => {
      const words = dialog.querySelector('explore-figure').shadowRoot.querySelectorAll('p, span, button, text:not(.in)')
      return Math.min(...[...words].map((part) => parseFloat(getComputedStyle(part).fontSize))) * getComputedStyle(dialog).zoom
    })
    if (smallest < LIMITS.smallestText) problems.push(`words in a picture that is explored are ${smallest.toFixed(1)} px high: at least ${LIMITS.smallestText}`)
    const before = await says()
    const sliders = await page.$$('dialog explore-figure >>> input')
    for (const slider of sliders) {
      if (!(await slider.isVisible())) continue
      await slider.focus()
      for (const key of ['ArrowRight', 'ArrowLeft']) {
        if ((await says()) === before) await page.keyboard.press(key)
      }
    }
    if ((await says()) === before) problems.push('a picture that is explored stays as it is')
    await page.keyboard.press('Escape')
    const closed = () => page.waitForFunction(() => !document.querySelector('dialog'), { timeout: 5000 })
    await closed().catch(() => problems.push('Escape leaves a picture open'))
    const button = await page.$('svg.bespoke-marp-active button.explore')
    for (const pressed of [picture, (await button?.isVisible()) ? button : null]) {
      await pressed?.click()
      if (!(await page.$('dialog[open]'))) problems.push(pressed ? 'a click opens no picture' : 'nothing shows that a picture can be explored')
      await page.keyboard.press('Escape')
      await closed().catch(() => {})
    }
    if (await turned()) problems.push('keys in a picture turn pages')
  }
  return problems
}

async function checkDeck(browser, file) {
  const deck = `slides/${basename(file, '.html')}.md`
  const problems = []
  const url = pathToFileURL(resolve(file)).href
  const page = await browser.newPage()
  let shown = 0 // the slide on the screen when something was reported; 0 while the page loads
  const where = () => (shown ? `${deck}: slide ${shown}` : deck)

  await page.setViewport({ width: 1280, height: 720 })
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const asked = request.url()
    const isOwn = asked.startsWith('data:') || asked.startsWith('blob:') || asked.split('#')[0] === url
    if (!isOwn) problems.push(`${where()}: asks for ${asked.slice(0, 100)}`)
    if (isOwn) request.continue()
    else request.abort()
  })
  listen(page, (problem) => problems.push(`${where()}: ${problem}`))

  await page.evaluateOnNewDocument(addContrast)
  await page.goto(url, { waitUntil: 'load' })
  const lines = await page.$$eval('section[data-line]', (sections) => sections.map((s) => s.dataset.line))
  for (let index = 0; index < lines.length; index++) {
    shown = index + 1
    await page.evaluate(async (number) => {
      location.hash = `#${number}`
      await document.fonts.ready
      await Promise.all([...document.images].map((image) => image.decode().catch(() => {})))
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    }, shown)
    const line = () => page.$eval('svg.bespoke-marp-active section', (section) => section.dataset.line)
    const active = await line()
    const found = active === lines[index] ? [] : ['cannot be shown']
    found.push(...(await page.evaluate(lookAtSlide, index, LIMITS)))
    found.push(...(await explorePictures(page, async () => (await line()) !== active)))
    problems.push(...found.map((problem) => `${deck}:${lines[index]}: slide ${shown}: ${problem}`))
  }
  await page.close()
  return { slides: lines.length, problems }
}

const [packages, ...files] = process.argv.slice(2)
const browser = await openChromium(packages)
let slides = 0
let status = 0
try {
  for (const file of files) {
    const checked = await checkDeck(browser, file)
    slides += checked.slides
    for (const problem of checked.problems) {
      console.error(problem)
      status = 1
    }
  }
} finally {
  await browser.close()
}
if (status === 0) console.log(`  ${slides} slides of ${files.length} ${files.length === 1 ? 'deck' : 'decks'} looked at in Chromium: nothing wrong`)
process.exit(status)
