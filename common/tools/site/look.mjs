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
  for (const list of document.querySelectorAll('main ol[start]')) {
    if (list.children.length === 1) problems.push(`a number with a dot has become a list: ${list.start}. ${excerpt(list.textContent)}`)
  }
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

/** Of each guess, whether its result is there to see, and whether it is of the quiz. */
export function resultsShown() {
  const results = [...document.querySelectorAll('.guess-first > .waits')]
  return results.map((e) => ({ is: e.checkVisibility({ visibilityProperty: true }), quiz: e.parentElement.classList.contains('quiz') }))
}

/** What each exercise of a lab's page lacks: { title, missing }. */
export function whatExercisesLack() {
  const isExercise = (heading) => /^\d+\. /.test(heading.textContent)
  return [...document.querySelectorAll('main h2')].filter(isExercise).map((heading) => {
    const parts = []
    for (let e = heading.nextElementSibling; e && e.nodeName !== 'H2'; e = e.nextElementSibling) parts.push(e)
    const all = (selector) => parts.flatMap((part) => [...(part.matches(selector) ? [part] : []), ...part.querySelectorAll(selector)])
    const text = (selector) => all(selector).map((e) => e.textContent).join('\n')
    const there = {
      'starter with a TODO': /TODO/.test(text('.starter .line.highlighted')),
      'list of what the check looks at': all('.looks-at li').length > 0,
      'hint': all('details > summary').some((e) => /^Hint 1/.test(e.textContent)),
      'report of the check': /^ *(not yet|stopped) /m.test(text('details.report pre')),
      'link to the solution': all('.for-teachers a').some((a) => /\/solutions\//.test(a.pathname)),
    }
    return { title: heading.textContent.replace(/[\u200b#]/g, '').trim(), missing: Object.keys(there).filter((what) => !there[what]) }
  })
}

/** What stands beside the result of each guess: "Your guess: 2 times, It is: ...", or null. */
export function besideResults() {
  return [...document.querySelectorAll('.guess-first')].map((guess) => {
    const box = guess.querySelector('.guess-result')
    return box && [...box.querySelectorAll('dl > div')].map((e) => [...e.children].map((c) => c.textContent).join(': ')).join(', ')
  })
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

/** Text whose contrast is below AA, a line for each pair of colours; the page has contrastOf of browser.mjs. */
export function faintText() {
  const problems = []
  const seen = new Set()
  const figures = [...document.querySelectorAll('explore-figure')].map((figure) => figure.shadowRoot)
  for (const root of [document.body, ...figures.filter(Boolean)]) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const element = text.parentElement
      if (!/[^\s\u200b]/.test(text.data) || !element?.checkVisibility({ visibilityProperty: true })) continue
      if (element.closest('script, style, [disabled]') || (root === document.body && element.closest('svg'))) continue
      const box = element.getBoundingClientRect()
      if (box.width <= 1 || box.height <= 1) continue
      const { ratio, needed, opacity, key } = contrastOf(element)
      if (opacity < 0.05 || seen.has(key)) continue
      seen.add(key)
      const excerpt = text.data.trim().replace(/\s+/g, ' ').slice(0, 40)
      if (ratio === null) problems.push(`"${excerpt}" stands on a background image: its contrast is unknown`)
      else if (ratio < needed) problems.push(`"${excerpt}" has a contrast of ${ratio.toFixed(2)}, needed: ${needed}`)
    }
  }
  return problems
}

/** What is wrong with how an <explore-figure> is drawn: what sticks out of it, and words that lie over others. */
export function badlyDrawn(figure) {
  const room = figure.getBoundingClientRect()
  const boxes = (selector) => [...figure.shadowRoot.querySelectorAll(selector)].map((e) => ({ e, box: e.getBoundingClientRect() }))
  const out = boxes('svg *, .sliders *, button').filter(({ box }) => box.width > 0 && (box.left < room.left || box.right > room.right))
  const words = boxes('text')
  const over = words.filter(({ box: a }, i) =>
    words.slice(0, i).some(({ box: b }) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2),
  )
  const paints = (selector) => boxes(selector).map(({ e }) => getComputedStyle(e).getPropertyValue('--paint')).filter(Boolean)
  const named = new Set(paints('.legend i'))
  const nameless = named.size > 0 && paints('svg rect').some((paint) => !named.has(paint)) ? ['a colour of its boxes is not in the legend'] : []
  return [...nameless, ...out.slice(0, 1).map(({ e }) => `sticks out: <${e.nodeName}> ${e.textContent}`), ...over.map(({ e }) => `"${e.textContent}" lies over other words`)]
}

/** What is cut at a width: boxes that scroll and do not say so, code that sticks out of its fold, names that are broken within a word. */
export function badlyCut() {
  const problems = []
  const excerpt = (element) => `<${element.nodeName.toLowerCase()}> ${element.textContent.trim().replace(/\s+/g, ' ').slice(0, 40)}`
  const shows = (element) => element.checkVisibility({ visibilityProperty: true })
  for (const box of document.querySelectorAll('.vp-doc :is(pre, table, p)')) {
    if (box.scrollWidth - box.clientWidth < 2 || !shows(box) || getComputedStyle(box).overflowX === 'visible') continue
    if (getComputedStyle(box).maskImage === 'none') problems.push(`no shade says that it goes on: ${excerpt(box)}`)
    if (box.tabIndex !== 0) problems.push(`the keyboard cannot scroll it: ${excerpt(box)}`)
  }
  for (const code of document.querySelectorAll('.vp-doc details pre')) {
    const [box, fold] = [code, code.closest('details')].map((e) => e.getBoundingClientRect())
    if (box.width > 0 && (box.left < fold.left || box.right > fold.right)) problems.push(`sticks out of its fold: ${excerpt(code)}`)
  }
  // Where a line ends in code there is the end of a word, and not of an option's dashes.
  for (const code of document.querySelectorAll('.vp-doc :not(pre) > code')) {
    if (code.getClientRects().length < 2 || !shows(code)) continue
    const letters = []
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (let i = 0; i < text.length; i++) {
        const range = document.createRange()
        range.setStart(text, i)
        range.setEnd(text, i + 1)
        letters.push({ letter: text.data[i], top: range.getBoundingClientRect().top })
      }
    }
    const isBroken = letters.some(({ letter, top }, i) => i > 0 && top > letters[i - 1].top + 5 && /([A-Za-z0-9]|(^|\s)-+)$/.test(code.textContent.slice(0, i)) && /[a-z0-9]/.test(letter))
    if (isBroken) problems.push(`a name is broken: ${excerpt(code)}`)
  }
  return problems
}

/** What a narrow screen does not get of what is wider: tables and figures that are not laid out anew. */
export function notForPhones() {
  const problems = []
  const excerpt = (element) => `<${element.nodeName.toLowerCase()}> ${element.textContent.trim().replace(/\s+/g, ' ').slice(0, 40)}`
  const shows = (element) => element.checkVisibility({ visibilityProperty: true })
  for (const table of document.querySelectorAll('table.cards')) {
    const cells = [...table.querySelectorAll('td:not(:first-child, :empty)')].filter(shows)
    const nameless = cells.find((cell) => getComputedStyle(cell, '::before').content !== `"${cell.dataset.column}"`)
    if (nameless) problems.push(`a cell of a card does not name its column: ${excerpt(nameless)}`)
    const wide = cells.find((cell) => cell.getBoundingClientRect().right > document.documentElement.clientWidth)
    if (wide) problems.push(`a card is wider than the screen: ${excerpt(wide)}`)
  }
  for (const panels of document.querySelectorAll('.panels')) {
    if (!panels.parentElement.checkVisibility()) continue
    const places = [...panels.children].map((image) => image.getBoundingClientRect())
    const isBelow = places.every(({ top, width }, i) => width > 0 && (i === 0 || top >= places[i - 1].bottom - 1))
    if (!isBelow || panels.previousElementSibling.checkVisibility()) problems.push(`the panels of a figure do not stand below each other: ${panels.getAttribute('aria-label').slice(0, 40)}`)
  }
  return problems
}

/** What somebody new does not see first: where to begin within the first screen, its command as the first, and no picture that answers a guess. */
export function notForBeginners() {
  const begin = document.querySelector('.actions .first')
  if (!begin) return []
  const problems = []
  const number = /\d\d/.exec(begin.textContent)[0]
  const command = document.querySelector('main pre')
  const inSight = (element) => element.getBoundingClientRect().bottom <= innerHeight
  if (!inSight(begin)) problems.push('where to begin is below the first screen')
  if (command && !command.textContent.trim().startsWith(`make run CH=${number}`)) problems.push(`the first command is not for chapter ${number}`)
  const words = [...document.querySelectorAll('main strong')].find((element) => element.textContent === 'Never seen a kernel?')
  if (words && !inSight(words)) problems.push('"Never seen a kernel?" is below the first screen')
  const pictures = [...document.querySelectorAll('main :is(img, .bar)')].filter((element) => element.checkVisibility())
  if (pictures.length > 0) problems.push('a picture stands outside of a fold, and may answer a guess')
  return problems
}
