// SPDX-License-Identifier: MIT
// Opens the built site in Chromium and looks at every page, at four widths, light and dark.
//
//   CHROME_PATH=chromium [SHARE=k/n] node check.mjs PACKAGES FOLDER BASE [PAGE...]
//
// PACKAGES is where puppeteer is installed. PAGE, chapters/05_x/index.html: look at these only. One line for each thing that is wrong, status 1:
// links and anchors that lead nowhere, requests to other hosts, messages on the console, images that do
// not load or have no text alternative, pages that scroll sideways, contrast below AA, guesses that do not
// work by keyboard or pointer or that show their results too early, labs without their code, figures that cannot be
// explored, more than 300 kB of scripts, a search that does not find what is there, or a term's entry not first; what a
// phone cuts off without saying so, and what somebody new does not see first.

import fs from 'node:fs'
import path from 'node:path'
import { addContrast, listen, openChromium } from './browser.mjs'
import {
  badlyCut, badlyDrawn, besideResults, contents, faintText, notForBeginners, notForPhones, resultsShown, tooWide, whatExercisesLack,
} from './look.mjs'
import { filesBelow } from './pages.mjs'
import { fileFor, serve } from './serve.mjs'

const WIDE = { width: 1280, height: 720 }
const NARROW = { width: 390, height: 844 }
const MIDDLE = { width: 768, height: 1024 }
const FULL = { width: 1920, height: 1080 }
const MOST_SCRIPT = 300e3 // bytes, of what a page asks for before anybody searches
const MOST_AT_FIRST = 300e3 // bytes, of all that the first page loads, packed
const SEARCH = { word: 'coalesced', finds: 'chapters/03_' }
const TERMS = ['warp', 'bank conflict', 'occupancy'] // the search finds their entries first
// A page in the background is not painted, so each tab is a window of its own.
const TABS = 2
const STILL = '*, *::before, *::after { transition: none !important; animation: none !important }'

const [packages, folder, base, ...chosen] = process.argv.slice(2)
const problems = new Map()
const server = await serve(folder, base, 0)
const origin = `http://127.0.0.1:${server.address().port}`

/** One line per problem, also where it shows on many pages, at both widths or in both appearances. */
function complain(page, message, when = '') {
  if (!problems.has(message)) problems.set(message, { pages: new Set(), when: new Set() })
  problems.get(message).pages.add(page)
  if (when) problems.get(message).when.add(when)
}

/** A file's path below the folder. */
const nameOf = (file) => path.relative(folder, file).split(path.sep).join('/')
/** Decks are not pages of the site: make slides looks at them. */
const isPage = (file) => file.endsWith('.html') && file !== '404.html' && !/^slides\/\d\d_/.test(file)
/** Pages that show a file, such as a program: most of the pages, and all made in one way. */
const showsFile = (file) => fs.readFileSync(path.join(folder, file), 'utf8').includes('<p class="facts">')

/** Of the pages that show a file the k-th of n parts, where SHARE=k/n is set; and all others. */
function shareOf(files) {
  const [part, parts] = (process.env.SHARE || '1/1').split('/').map(Number)
  let number = 0
  return files.filter((file) => !showsFile(file) || number++ % parts === part - 1)
}

/** Returns when the page is drawn: what observes sizes, to shade or to draw anew, hears of them only then, late on a busy machine. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))

/** Gives an open page another size. */
async function resize(page, size) {
  await page.setViewport(size)
  await drawn(page)
}

const visit = (page, file) => page.goto(`${origin}${base}${encodeURI(file)}`, { waitUntil: 'load' })

/** The page of a file, once its scripts run; nothing on it moves by itself. */
async function open(page, file) {
  await visit(page, file)
  await page.waitForFunction('document.querySelector("#app").__vue_app__ !== undefined', { timeout: 20000 })
  await drawn(page)
  await page.addStyleTag({ content: STILL })
}

async function withoutScripts(page, file, look) {
  await page.setJavaScriptEnabled(false)
  await visit(page, file)
  await look()
  await page.setJavaScriptEnabled(true)
}

async function lookAtWidth(page, where, size) {
  await resize(page, size)
  const wide = await page.evaluate(tooWide)
  if (wide) complain(where, wide, `${size.width} px`)
}

const setDark = (page, dark) => page.evaluate((on) => document.documentElement.classList.toggle('dark', on), dark)

/** Both appearances, at the width that is set. */
async function lookAtContrast(page, where, width) {
  for (const dark of [false, true]) {
    await setDark(page, dark)
    for (const problem of await page.evaluate(faintText)) complain(where, problem, `${width} px ${dark ? 'dark' : 'light'}`)
  }
  await setDark(page, false)
}

/**
 * Guesses and a quiz, as a reader makes them: results wait; the first is answered by keyboard, all others by the pointer.
 * Words reveal no number, each choice says why it fails or is right. The browser keeps all answers; without scripts nothing
 * waits, and on paper only what explains the quiz. In the end all are shown.
 */
async function lookAtGuesses(page, file) {
  const shown = async (what, wanted) => {
    const are = await page.evaluate(resultsShown)
    const wrong = are.flatMap(({ is, quiz }, i) => (is === wanted(i, quiz) ? [] : [i + 1]))
    if (wrong.length > 0) complain(file, `${what}: the result of guess ${wrong.join(', ')} ${are[wrong[0] - 1].is ? 'shows' : 'is hidden'}`)
  }
  // A page of the browser of its own keeps what others guessed.
  await page.evaluate(() => localStorage.clear())
  await withoutScripts(page, file, () => shown('without scripts', () => true))
  await open(page, file)
  await shown('before a guess', () => false)
  await page.emulateMediaType('print')
  await shown('on paper', (_, quiz) => !quiz)
  await page.emulateMediaType('screen')
  for (const size of [WIDE, NARROW]) await lookAtWidth(page, file, size)
  await resize(page, WIDE)
  await lookAtContrast(page, file, WIDE.width)

  // By keyboard: the key that moves the focus leads from the field to both buttons.
  const fields = await (await page.$('.guess-first')).$$('.guess-entry input')
  await (fields.at(-1) ?? (await page.$('.guess-form input'))).focus()
  const way = []
  for (let i = 0; i < 2; i++) {
    await page.keyboard.press('Tab')
    way.push(await page.evaluate(() => document.activeElement.className))
  }
  if (way.join() !== 'guess-compare,guess-show') complain(file, `the keyboard leads from a guess to ${way.join(', ')}`)
  await page.focus('.guess-form input')
  await page.keyboard.press('Enter')
  await shown('after an empty guess', () => false)
  for (const field of fields) {
    await field.focus()
    await page.keyboard.type('2')
  }
  if (fields.length === 0) await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await shown('after a guess by keyboard', (i) => i === 0)
  const [beside] = await page.evaluate(besideResults)
  if (!/\byour (guess|answer): \S/i.test(beside ?? '')) complain(file, `beside the first result stands ${beside}`)
  const measured = await page.evaluate(() => document.activeElement.className)
  if (measured !== 'guess-result') complain(file, `after a guess the focus is at ${measured || 'nothing'}`)
  await (await page.$('.guess-again'))?.click()
  await shown('after "Guess again"', () => false)

  await page.evaluate(() => localStorage.clear())
  await open(page, file)
  for (const [i, question] of (await page.$$('.guess-first')).entries()) await answer(page, question, (what) => complain(file, `guess ${i + 1}: ${what}`))
  await shown('after all were answered', () => true)
  for (const size of [WIDE, NARROW]) await lookAtWidth(page, file, size)
  await resize(page, WIDE)
  await lookAtContrast(page, file, WIDE.width)
  const answers = await page.evaluate(besideResults)
  await open(page, file)
  await shown('after the page was loaded again', () => true)
  if ((await page.evaluate(besideResults)).join() !== answers.join()) complain(file, 'the browser has not kept the guesses')

  for (const button of await page.$$('.guess-again')) await button.click()
  await shown('after "Guess again" everywhere', () => false)
  const buttons = await page.$$('.guess-show')
  if (buttons.length > 0) await buttons[0].click()
  await shown('after a click', (i) => i === 0)
  for (const button of buttons.slice(1)) await button.click()
  await shown('after all were shown', () => true)
}

/** One question, answered by the pointer in each way that there is; it ends answered. */
async function answer(page, question, say) {
  const isShown = () => question.$eval(':scope > .waits', (e) => e.checkVisibility({ visibilityProperty: true }))
  const press = async (selector) => (await question.$(selector))?.click().catch(() => say(`${selector} cannot be pressed`))
  const beside = () => question.evaluate((q) => [...q.querySelectorAll('.guess-result dl > div')].map((e) => [...e.children].map((c) => c.textContent).join(': ')).join(', '))
  const typeAll = async (text) => {
    for (const field of await question.$$('.guess-entry input')) {
      await field.click({ count: 3 })
      await page.keyboard.type(text)
    }
    await press('.guess-compare')
  }
  const choices = (await question.$$('.guess-choice input')).length
  await press('.guess-compare')
  if (await isShown()) return say('an empty one reveals the result')
  if (choices === 0) {
    await typeAll('a lot')
    if (await isShown()) return say('words reveal a number')
    if (!(await question.$eval('.guess-complaint', (e) => e.textContent))) say('nothing is said of words in place of a number')
    await typeAll('2')
    const text = await beside()
    if (!(await isShown()) || !/\d.*\d.*Factor between/.test(text)) say(`a number is not compared: ${text}`)
    return
  }
  for (let k = 0; k < choices; k++) {
    if (k > 0) await press('.guess-again')
    await (await question.$$('.guess-choice input'))[k].click()
    await press('.guess-compare')
    const reasons = await question.$$eval('.guess-others li', (items) => items.map((item) => item.textContent))
    if (!(await isShown())) say(`choice ${k + 1} shows nothing`)
    if (!/^Your (guess|answer): .* [✓✗]/.test(await beside())) say(`choice ${k + 1} is not told from the others`)
    if (reasons.length !== choices - 1 || reasons.some((reason) => !/: \S/.test(reason))) say(`of ${choices} choices ${reasons.length} say why they fail`)
  }
}

/** A lab's page: each exercise has its starter with the lines to change, what the check looks at, hints that open, a report. */
async function lookAtLab(page, file) {
  for (const { title, missing } of await page.evaluate(whatExercisesLack)) {
    if (missing.length > 0) complain(file, `"${title}" has no ${missing.join(', no ')}`)
  }
  for (const summary of await page.$$('main details:not([open]) > summary')) {
    await summary.focus()
    await page.keyboard.press('Enter')
    const { isOpen, name, text } = await summary.evaluate((s) => ({ isOpen: s.parentElement.open, name: s.textContent, text: s.parentElement.innerText.length - s.innerText.length }))
    if (!isOpen || text < 20) complain(file, `"${name}" ${isOpen ? 'says nothing' : 'does not open by keyboard'}`)
  }
}

/**
 * Figures that can be explored, as a reader uses them: each slider by keyboard and by pointer, each button by pointer.
 * Every move must show in what the figure says. On paper and without scripts there is the picture.
 */
async function lookAtFigures(page, file) {
  const waitForAll = () =>
    page.waitForFunction(() => [...document.querySelectorAll('explore-figure')].every((figure) => figure.matches('[ready], [failed]')))
  await waitForAll()
  const picturesShow = async (when) => {
    const allShow = await page.$$eval('explore-figure img', (images) => images.every((image) => image.checkVisibility()))
    if (!allShow) complain(file, `a figure's picture is hidden ${when}`)
  }
  for (const [number, figure] of (await page.$$('explore-figure')).entries()) {
    await lookAtPlay(figure, (what) => complain(file, `figure ${number + 1}: ${what}`))
    const says = () => figure.evaluate((f) => f.shadowRoot.querySelector('[role=status]').textContent)
    const moves = async (what, ...acts) => {
      const before = await says()
      for (const act of acts) {
        await act()
        if ((await says()) !== before) return
      }
      complain(file, `figure ${number + 1}: ${what} changes nothing`)
    }
    const press = (key) => () => page.keyboard.press(key)
    const named = async (selector, name) => (await figure.$$(`>>> ${selector}`)).map((part, i) => ({ part, name: `${name} ${i + 1}` }))
    const [sliders, buttons] = [await named('input', 'slider'), (await named('button', 'button')).reverse()]
    const tried = new Set()
    // A button may bring others, and sliders: so there is a second round.
    for (let round = 0; round < 2; round++) {
      for (const { part, name } of sliders) {
        if (tried.has(name) || !(await part.isVisible())) continue
        tried.add(name)
        await part.focus()
        await moves(`${name} by keyboard`, press('ArrowRight'), press('ArrowLeft'))
        const outline = await part.evaluate((e) => getComputedStyle(e).outlineStyle)
        if (outline === 'none') complain(file, `figure ${number + 1}: ${name} has no outline when it has the focus`)
        const { width, height } = await part.boundingBox()
        const click = (share) => () => part.click({ offset: { x: share * width, y: height / 2 } })
        await moves(`${name} by pointer`, click(0.95), click(0.05))
      }
      const [drawing] = await figure.$$('>>> svg.pressable')
      if (drawing) {
        const { width, height } = await drawing.boundingBox()
        const press = (x, y) => () => drawing.click({ offset: { x: x * width, y: y * height } })
        await moves('a press on the drawing', press(0.9, 0.2), press(0.3, 0.6))
      }
      for (const size of [NARROW, WIDE]) {
        await resize(page, size)
        for (const end of ['Home', 'End']) {
          for (const { part } of sliders) {
            if (!(await part.isVisible())) continue
            await part.focus()
            await page.keyboard.press(end)
          }
          for (const problem of await figure.evaluate(badlyDrawn)) complain(file, `figure ${number + 1}: ${problem}`, `${size.width} px`)
        }
      }
      await stayInSight(page, file, figure, number)
      for (const { part, name } of buttons) {
        if (tried.has(name) || !(await part.isVisible())) continue
        tried.add(name)
        await moves(`${name} by pointer`, () => part.click())
      }
    }
    const all = sliders.length + buttons.length
    if (tried.size < all) complain(file, `figure ${number + 1}: ${all - tried.size} of its ${all} sliders and buttons are never there`)
  }
  await page.emulateMediaType('print')
  await picturesShow('on paper')
  await page.emulateMediaType('screen')
  await withoutScripts(page, file, () => picturesShow('without scripts'))
  await open(page, file)
  await waitForAll()
}

/** On a phone the sliders are seen above what they change, also when its end has come to the middle of the screen. */
async function stayInSight(page, file, figure, number) {
  await resize(page, NARROW)
  const are = await figure.evaluate(async (f) => {
    scrollBy(0, f.shadowRoot.querySelector('svg').getBoundingClientRect().bottom - 0.5 * innerHeight)
    await new Promise((done) => requestAnimationFrame(done))
    const { top, bottom, height } = f.shadowRoot.querySelector('.sliders').getBoundingClientRect()
    return height === 0 || (top >= 0 && bottom <= innerHeight)
  })
  if (!are) complain(file, `figure ${number + 1}: its sliders are out of sight at the end of what they change`)
  await resize(page, WIDE)
}

/** What plays goes on by itself, and stays when it is stopped. */
async function lookAtPlay(figure, say) {
  const says = () => figure.evaluate((f) => f.shadowRoot.querySelector('[role=status]').textContent)
  const [play] = await figure.$$('>>> .ways button')
  if (!play) return
  const texts = new Set([await says()])
  await play.click()
  const begun = Date.now()
  while (texts.size < 4 && Date.now() - begun < 20000) {
    texts.add(await says())
    await new Promise((done) => setTimeout(done, 100))
  }
  if (texts.size < 4) say('"Play" does not go on')
  // At the end it stops by itself.
  if ((await play.evaluate((button) => button.textContent)) === 'Pause') await play.click()
  const stopped = await says()
  await new Promise((done) => setTimeout(done, 1500))
  if ((await says()) !== stopped) say('"Pause" does not stop it')
}

/** A box is ticked by keyboard: the sidebar says so, and the browser keeps it until the box is clicked again. */
async function lookAtTicks(page, file) {
  const expect = async (when, ticked) => {
    const is = await page.evaluate(() => ({
      box: document.querySelector('.tick input').checked,
      sidebar: [...document.querySelectorAll('.VPSidebar a[data-done]')].some((a) => a.pathname === location.pathname.replace(/index\.html$/, '')),
    }))
    if (is.box !== ticked) complain(file, `${when} the box is ${ticked ? 'not ticked' : 'ticked'}`)
    if (is.sidebar !== ticked) complain(file, `${when} the sidebar says ${ticked ? 'nothing' : 'done'}`)
  }
  await page.focus('.tick input')
  await page.keyboard.press('Space')
  if (await page.$eval('.tick input', (box) => getComputedStyle(box).outlineStyle === 'none')) complain(file, 'the box has no outline when it has the focus')
  await expect('after the space bar', true)
  await open(page, file)
  await expect('after the page was loaded again', true)
  await page.click('.tick input')
  await expect('after a click', false)
}

/** With the focus on a term, or the pointer over it, its sentence shows, whole; Escape hides it. */
async function lookAtTerms(page, file) {
  const links = await page.$$('a[data-term]')
  const visible = await Promise.all(links.map((link) => link.isVisible()))
  const link = links[visible.indexOf(true)]
  if (!link) return
  // Where it clicked last there may be a term too, whose sentence would come first.
  await page.mouse.move(0, 0)
  const sentence = await link.evaluate((a) => a.dataset.term)
  const expect = async (when, text) => {
    const is = await page.$eval('.term-box', (box) => {
      const { left, top, right, bottom } = box.getBoundingClientRect()
      return { text: box.hidden ? '' : box.textContent, inside: left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight }
    })
    if (is.text !== text) complain(file, `${when} the sentence of the first term ${text ? 'does not show' : 'shows'}`)
    else if (text && !is.inside) complain(file, `${when} the sentence of the first term leaves the window`)
  }
  for (const size of [WIDE, NARROW]) {
    await resize(page, size)
    await page.evaluate(() => document.activeElement.blur())
    await link.focus()
    await drawn(page) // scrolled to, it moves its sentence
    await expect(`at ${size.width} px, with the focus on it,`, sentence)
    await page.keyboard.press('Escape')
    await expect(`at ${size.width} px, after Escape,`, '')
  }
  await resize(page, WIDE)
  await link.hover()
  await drawn(page)
  await expect('under the pointer', sentence)
  await page.evaluate(() => document.activeElement.blur())
  await page.mouse.move(0, 0)
}

/** The first page that has it, of lessons, labs and others, is enough for what is the same on all. */
const seen = new Set()
async function first(page, selector, file) {
  const name = `${selector} ${/^chapters\/\d/.test(file)} ${/\/exercises\//.test(file)}`
  if (seen.has(name) || !(await page.$(selector))) return false
  seen.add(name)
  return true
}

/** One page: returns { ids, links }. */
async function lookAtPage(page, file) {
  await page.setViewport(WIDE)
  await open(page, file)
  if (await page.$('.guess-first')) await lookAtGuesses(page, file)
  if (await page.$('explore-figure')) await lookAtFigures(page, file)
  if (/\/exercises\/index\.html$/.test(file)) await lookAtLab(page, file)
  if (await first(page, '.tick', file)) await lookAtTicks(page, file)
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
  if (await first(page, 'a[data-term]', file)) await lookAtTerms(page, file)
  await page.evaluate(() => {
    for (const image of document.images) image.loading = 'eager'
    return Promise.all([...document.images].map((image) => image.decode().catch(() => {})))
  })
  const found = await page.evaluate(contents)
  for (const problem of found.problems) complain(file, problem)
  for (const size of [FULL, WIDE, MIDDLE, NARROW]) {
    await lookAtWidth(page, file, size)
    for (const problem of await page.evaluate(badlyCut)) complain(file, problem, `${size.width} px`)
    // Text is as faint at any width: what only a phone shows is around the page, the same on all.
    if (size === NARROW) for (const problem of await page.evaluate(notForPhones)) complain(file, problem, `${size.width} px`)
    if (size === WIDE || /^index\.html$|^chapters\/[^/]*\/index\.html$/.test(file)) await lookAtContrast(page, file, size.width)
  }
  return found
}

/** The first page, as somebody sees it who comes for the first time: its weight, and what the first screen says. */
async function lookAtFirstPage(page) {
  const cdp = await page.createCDPSession()
  let bytes = 0
  cdp.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await cdp.send('Network.enable')
  await page.setCacheEnabled(false)
  for (const size of [NARROW, { width: 1280, height: 800 }]) {
    bytes = 0
    await page.setViewport(size)
    await page.goto(`${origin}${base}`, { waitUntil: 'networkidle0' })
    if (bytes > MOST_AT_FIRST) complain('index.html', `loads more than ${MOST_AT_FIRST / 1e3} kB at first`, `${size.width} px: ${Math.round(bytes / 1e3)} kB`)
    for (const problem of await page.evaluate(notForBeginners)) complain('index.html', problem, `${size.width} px`)
  }
  await page.setCacheEnabled(true)
  await cdp.detach()
}

/** What a host shows where there is no page: it leads into the course. */
async function lookAtMissing(page) {
  await open(page, '404.html')
  const found = await page.evaluate(contents)
  for (const problem of found.problems) complain('404.html', problem)
  const isThere = ({ href }) => fileFor(folder, base, new URL(href).pathname)
  if (!(await page.$('.missing a')) || !found.links.every((link) => new URL(link.href).origin !== origin || isThere(link))) complain('404.html', 'does not lead into the course')
  for (const size of [WIDE, NARROW]) {
    await lookAtWidth(page, '404.html', size)
    await lookAtContrast(page, '404.html', size.width)
  }
}

/** A term's entry in the glossary is the first thing that is found. */
async function lookForTerms(page) {
  const glossary = path.join(folder, 'chapters/GLOSSARY.html')
  const entries = fs.existsSync(glossary) ? fs.readFileSync(glossary, 'utf8') : ''
  const isFirst = (end) => document.querySelector('.VPLocalSearchBox .results a.result')?.href.endsWith(end)
  for (const term of TERMS) {
    const anchor = term.replace(/ /g, '-')
    if (!entries.includes(`id="${anchor}"`)) continue
    await page.click('.VPLocalSearchBox input', { count: 3 })
    await page.type('.VPLocalSearchBox input', term)
    const found = page.waitForFunction(isFirst, { timeout: 5000 }, `GLOSSARY.html#${anchor}`)
    await found.catch(() => complain('search', `"${term}" does not find its entry in the glossary first`))
  }
}

/** The search, as a reader uses it. */
async function lookAtSearch(page, size) {
  const where = 'search'
  await page.setViewport(size)
  await open(page, '')
  try {
    await page.click('.VPNavBarSearch button')
    await page.waitForSelector('.VPLocalSearchBox input', { timeout: 5000 })
    await page.type('.VPLocalSearchBox input', SEARCH.word)
    await page.waitForSelector(`.VPLocalSearchBox .results a.result[href*="${SEARCH.finds}"]`, { timeout: 15000 })
  } catch {
    complain(where, `"${SEARCH.word}" does not find ${SEARCH.finds}*`, `${size.width} px`)
    return
  }
  await lookAtWidth(page, where, size)
  await lookAtContrast(page, where, size.width)
  if (size === WIDE) await lookForTerms(page)
}

/** The menu that a phone hides behind a button. */
async function lookAtMenu(page) {
  await page.setViewport(NARROW)
  await open(page, '')
  await page.click('.VPLocalNav .menu')
  await page.waitForSelector('.VPSidebar.open', { timeout: 5000 })
  await lookAtContrast(page, 'menu', NARROW.width)
}

/** A page of the browser, `page`; what goes wrong in it is told of the file in `current`. */
async function newTab(browser) {
  const page = await (await browser.createBrowserContext()).newPage()
  const tab = { page, current: '', script: 0 }
  await page.evaluateOnNewDocument(addContrast)
  page.on('request', (request) => {
    const url = request.url()
    if (!/^(data|blob):/.test(url) && !url.startsWith(`${origin}/`)) complain(tab.current, `asks another host: ${url.slice(0, 100)}`)
  })
  page.on('response', (response) => {
    const kind = response.request().resourceType()
    if (kind === 'document') tab.script = 0
    const script = kind === 'script' && fileFor(folder, base, response.url())
    if (script) tab.script += fs.statSync(script).size
    if (response.status() >= 400) complain(tab.current, `${new URL(response.url()).pathname}: status ${response.status()}`)
  })
  listen(page, (problem) => complain(tab.current, problem))
  return tab
}

const browser = await openChromium(packages)
const files = filesBelow(folder).map(nameOf).filter(isPage)
const looked = new Map()
const waiting = chosen.length > 0 ? [...chosen] : shareOf(files)
const lookAtAll = async () => {
  const tab = await newTab(browser)
  while (waiting.length > 0) {
    tab.current = waiting.shift()
    looked.set(tab.current, await lookAtPage(tab.page, tab.current))
    if (tab.script > MOST_SCRIPT) complain(tab.current, `asks for more than ${MOST_SCRIPT / 1e3} kB of scripts`)
  }
  return tab
}
const [tab] = await Promise.all(Array.from({ length: TABS }, lookAtAll))
if (chosen.length === 0) {
  tab.current = 'search'
  for (const size of [WIDE, NARROW]) await lookAtSearch(tab.page, size)
  tab.current = 'menu'
  await lookAtMenu(tab.page)
  tab.current = '404.html'
  await lookAtMissing(tab.page)
  tab.current = 'index.html'
  await lookAtFirstPage(tab.page)
}
await browser.close()
server.close()

for (const [file, { links }] of looked) {
  for (const { href, text } of links) {
    const url = new URL(href)
    if (url.origin !== origin) continue
    const to = fileFor(folder, base, `${url.pathname}${url.search}`)
    const page = to && looked.get(nameOf(to))
    const anchor = decodeURIComponent(url.hash.slice(1))
    if (!to) complain(file, `link "${text}" leads nowhere: ${url.pathname}`)
    else if (anchor && page && !page.ids.includes(anchor)) {
      complain(file, `link "${text}" leads to no heading: ${url.pathname}#${anchor}`)
    }
  }
}

for (const [message, { pages, when }] of problems) {
  const others = pages.size > 1 ? ` and ${pages.size - 1} more` : ''
  console.log(`${[...pages][0]}${others}: ${message}${when.size > 0 ? ` (${[...when].join(', ')})` : ''}`)
}
if (problems.size === 0) {
  const of = looked.size < files.length ? `${looked.size} of ${files.length}` : looked.size
  console.log(`  looked at ${of} pages at ${NARROW.width}, ${MIDDLE.width}, ${WIDE.width} and ${FULL.width} px, light and dark: nothing wrong`)
}
process.exitCode = problems.size === 0 ? 0 : 1
