// SPDX-License-Identifier: MIT
// Looks at a page that make xray HTML= wrote.
//
//   node explorer.mjs pieces PAGE             the pieces that the page draws of each request are as many as it costs
//   CHROME_PATH=chromium node explorer.mjs look PACKAGES PAGE PNG     by keyboard and by pointer, in Chromium; pictures: PNG_*.png
//
// One line for each thing that is wrong, status 1.

import fs from 'node:fs'
import { pathToFileURL } from 'node:url'
import { addContrast, listen, openChromium } from '../../common/tools/site/browser.mjs'
import { faintText, tooWide } from '../../common/tools/site/look.mjs'

const [mode, ...rest] = process.argv.slice(2)
const problems = new Set()
const complain = (text) => problems.add(text)

/** What stands in the page: the steps, and the function that reads them. */
function read(file) {
  const html = fs.readFileSync(file, 'utf8')
  const script = (start) => html.slice(html.indexOf(start) + start.length).split('</script>')[0]
  return {
    ...JSON.parse(script('<script type="application/json" id="steps">')),
    ...new Function(`${script('<script id="reader">')}; return { readerOf }`)(),
  }
}

function countPieces(page) {
  const { kernels, readerOf } = read(page)
  const seen = new Set()
  for (const kernel of kernels) {
    for (const entry of kernel.events) {
      const e = readerOf(kernel)(entry)
      if (e.op === 'barrier') continue
      seen.add(`${e.space} ${e.op}`)
      const passes = e.parts?.flatMap((part) => Object.keys(part.passes))
      const pieces = e.sectors?.reduce((sum, { turns }) => sum + turns, 0) ?? e.fetches?.length ?? passes.length * (e.op === 'swap' && e.bytes === 4 ? 2 : 1)
      const lanes = new Set((e.sectors ?? e.fetches ?? e.parts.flatMap((part) => Object.values(part.passes).flatMap((banks) => [...banks.values()]))).flatMap((piece) => piece.lanes))
      if (pieces !== e.cost || e.ideal > e.cost) complain(`${kernel.kernel}, step ${e.step}, line ${e.line}: ${pieces} pieces, ${e.cost} counted, ${e.ideal} at best`)
      if (lanes.size !== e.lanes.length) complain(`${kernel.kernel}, step ${e.step}, line ${e.line}: ${lanes.size} lanes, not ${e.lanes.length}`)
    }
  }
  console.log([...seen].sort().join())
}

// ---- in Chromium --------------------------------------------------------------------------------

async function look(packages, file, png) {
  const { kernels } = read(file)
  const browser = await openChromium(packages)
  for (const width of [1280, 390]) {
    for (const scheme of ['light', 'dark']) {
      const where = `${width} px ${scheme}`
      const page = await browser.newPage()
      listen(page, (message) => complain(`${where}: ${message}`))
      page.on('request', (request) => { if (!/^(file|data):/.test(request.url())) complain(`asks another host: ${request.url()}`) })
      await page.setViewport({ width, height: 900 })
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
      await page.goto(pathToFileURL(file).href)
      await page.evaluate(addContrast)
      const seen = async (what) => {
        for (const problem of [await page.evaluate(tooWide), ...await page.evaluate(faintText)]) if (problem) complain(`${where}, ${what}: ${problem}`)
        await page.screenshot({ path: `${png}_${width}_${scheme}_${what}.png`, fullPage: true })
      }
      await byKeyboard(page, kernels, where, seen)
      await byPointer(page, where)
      if (width === 1280 && scheme === 'light') await everyKernel(page, kernels)
      await page.close()
    }
  }
  await browser.close()
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent)
const status = (page) => text(page, '#status')

/** Presses the key; the text of `selector` must then be another one. */
async function press(page, key, selector, where) {
  const before = await text(page, selector)
  await page.keyboard.press(key)
  const after = await text(page, selector)
  if (after === before) complain(`${where}: ${key} changes nothing in ${selector}: ${before.slice(0, 60)}`)
  return after
}

async function byKeyboard(page, kernels, where, seen) {
  // The tab key comes by everything there is, in its order, and each has a name.
  const way = []
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab')
    const id = await page.evaluate(() => document.activeElement.id || document.activeElement.className)
    if (way.at(-1) !== id) way.push(id)
    if (id.startsWith('lane')) break
  }
  const expected = ['kernel', 'source', 'row', 'tab-requests', 'slider', 'on', 'lane']
  const steps = way.map((id) => id.replace(/^(row|lane).*/, '$1')).filter((id, i, all) => expected.includes(id) && all[i - 1] !== id)
  if (steps.join() !== expected.join()) complain(`${where}: the tab key leads to ${way.join(', ')}`)
  const nameless = (node) => [...(['button', 'tab', 'slider', 'combobox', 'checkbox', 'image', 'group', 'tabpanel'].includes(node.role) && !node.name ? [node.role] : []),
    ...(node.children ?? []).flatMap(nameless)]
  for (const role of nameless(await page.accessibility.snapshot({ interestingOnly: false }))) complain(`${where}: something has no name, its role is ${role}`)

  await seen('requests')
  await press(page, 'ArrowRight', '#of-lane', where)
  await press(page, 'ArrowDown', '#of-lane', where)
  await press(page, 'End', '#of-lane', where)
  if (!(await page.$('.touched'))) complain(`${where}: nothing is outlined for a lane`)
  await page.focus('#source button.row:not(.now)')
  await press(page, 'Enter', '#status', where)
  await press(page, 'ArrowDown', '#status', where)
  if (!/request 2 of/.test(await press(page, 'ArrowRight', '#status', where))) complain(`${where}: no second request`)
  await press(page, 'Home', '#status', where)
  await press(page, 'End', '#status', where)

  await page.focus('#tab-requests')
  await press(page, 'ArrowRight', '#status', where)
  if (await page.$eval('#time', (panel) => panel.hidden)) complain(`${where}: no time line`)
  await page.focus('#slider')
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'Home', 'PageUp']) await press(page, key, '#status', where)
  // The lines that are lit are those of the step.
  const lit = await page.$$eval('.row.now', (rows) => rows.map((row) => row.dataset.line.split(':')[1]))
  const said = (await status(page)).match(/line ([\d, ]+)\.$/)?.[1].split(', ') ?? []
  if (!said.length || said.sort().join() !== lit.sort().join()) complain(`${where}: lit are lines ${lit}, said ${said}`)
  await seen('time')
  await page.focus('#asking')
  await page.keyboard.press('Space')
  if (!/request|barrier/.test((await status(page)).replace('no request', ''))) complain(`${where}: a step without a request is left: ${await status(page)}`)
  await page.keyboard.press('Space')

  await page.focus('#kernel')
  if (kernels.length > 1) await press(page, 'ArrowDown', '#source', where)
  // From the overview to a kernel, and to the line at which it pays most.
  if ((await page.$$('#kernels li')).length !== kernels.length) complain(`${where}: the overview lacks a kernel`)
  const last = kernels.findLastIndex((kernel) => kernel.costliest)
  if (last < 0 || kernels.length < 2) return
  await page.focus(`#kernels li:nth-child(${last + 1}) .quiet button`)
  await page.keyboard.press('Enter')
  const [line] = [kernels[last].costliest[0]].flat().slice(-1)
  const is = await page.evaluate(() => [document.getElementById('kernel').selectedIndex, document.querySelector('#kernels .now') === document.querySelectorAll('#kernels li')[document.getElementById('kernel').selectedIndex]])
  if (is.join() !== `${last},true`) complain(`${where}: the overview leads to kernel ${is[0]}, not ${last}`)
  if (!(await status(page)).startsWith(`Line ${line},`)) complain(`${where}: the overview leads to ${await status(page)}`)
}

async function byPointer(page, where) {
  const click = async (selector, of = '#status') => {
    const before = await text(page, of)
    await page.click(selector)
    if ((await text(page, of)) === before) complain(`${where}: a click at ${selector} changes nothing in ${of}`)
  }
  await page.select('#kernel', await page.$eval('#kernel', (select) => select.options[0].value))
  if (!(await page.$eval('#tab-time', (tab) => tab.ariaSelected === 'true'))) await click('#tab-time')
  await page.$eval('#slider', (slider) => { slider.value = 0; slider.dispatchEvent(new Event('input')) })
  await page.$eval('#canvas', (e) => e.scrollIntoView({ block: 'center' }))
  const canvas = await (await page.$('#canvas')).boundingBox()
  await page.mouse.move(canvas.x + canvas.width * 0.3, canvas.y + canvas.height / 2)
  await page.mouse.down()
  const first = await status(page)
  await page.mouse.move(canvas.x + canvas.width * 0.5, canvas.y + canvas.height / 2, { steps: 3 })
  await page.mouse.up()
  if (/^Step 1 /.test(first) || first === (await status(page))) complain(`${where}: the pointer does not scrub the time line`)
  await click('#back')
  // From a step to one of its requests, and on.
  await page.click('#asking')
  await page.$eval('#slider', (slider) => { slider.value = 0; slider.dispatchEvent(new Event('input')) })
  await click('.doing button')
  if (await page.$eval('#requests', (panel) => panel.hidden)) complain(`${where}: a step does not lead to its request`)
  const { length } = await page.$$('#source button.row')
  if (length > 1) {
    const rows = await page.$$('#source button.row:not(.now)')
    const before = await status(page)
    await rows[0].click()
    if ((await status(page)) === before) complain(`${where}: a click at a line changes nothing`)
  }
  await click('#on')
  await click('.lane:nth-child(7)', '#of-lane')
}

/** Every kernel opens, and the sums beside its lines are those of its requests. */
async function everyKernel(page, kernels) {
  for (const [i, kernel] of kernels.entries()) {
    const shown = await page.evaluate((index) => {
      const select = document.getElementById('kernel')
      select.selectedIndex = index
      select.dispatchEvent(new Event('change'))
      return [...document.querySelectorAll('.counts')].map((e) => e.textContent)
    }, i)
    const sums = [0, 0]
    for (const counts of shown) {
      const found = counts.match(/^([\d,]+) .*?: ([\d,]+) (sector|wavefront|word)/)
      if (found) found.slice(1, 3).forEach((n, j) => { sums[j] += Number(n.replaceAll(',', '')) })
    }
    const requests = kernel.events.filter((e) => e[4] !== 'barrier')
    const expected = [requests.length, requests.reduce((sum, e) => sum + e[7], 0)]
    if (sums.join() !== expected.join()) complain(`${kernel.kernel}: ${sums} stand beside the lines, ${expected} were counted`)
    const inShort = await page.$eval(`#kernels li:nth-child(${i + 1}) .sums`, (e) => Number(/^[\d,]+/.exec(e.textContent)[0].replaceAll(',', '')))
    if (kernel.steps === kernel.steps_kept && inShort !== requests.length) complain(`${kernel.kernel}: the overview says ${inShort} requests, not ${requests.length}`)
    const said = await page.$$eval('#source .why', (all) => all.map((e) => e.textContent))
    const wanted = kernel.said.map(([, isWorst, text]) => (isWorst ? 'worst: ' : '') + text)
    if (said.sort().join() !== wanted.sort().join()) complain(`${kernel.kernel}: beside the lines stands ${said.join(' | ')}, not ${wanted.join(' | ')}`)
  }
}

if (mode === 'pieces') countPieces(...rest)
else await look(...rest)
for (const problem of problems) console.error(problem)
process.exit(problems.size > 0 ? 1 : 0)
