// SPDX-License-Identifier: MIT
// Pages to print, as HTML and, where CHROME_PATH names Chromium, as PDF. `packages` holds what slides/package-lock.json
// names.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openChromium } from '../site/browser.mjs'
import { cuda } from '../site/cuda_words.mjs'
import { origin } from './origin.mjs'

// How a page of its own is fitted: its figure's height in mm, and the size of everything.
const FITS = [[70, 1], [50, 1], [60, 0.9], [45, 0.9], [45, 0.82], [38, 0.82], [34, 0.77]]

export const field = (name, size) => `<span class="field ${size}">${name}</span>`
export const numbered = (items, first = 1) => `<ol class="questions" start="${first}">${items.map((i) => `<li>${i}</li>`).join('\n')}</ol>`

/** { html, inline } from Markdown. Paper has no links, and its pictures are in the lesson. */
export function openMarkdown(packages) {
  const need = createRequire(resolve(packages, 'package.json'))
  const hljs = need('highlight.js')
  hljs.registerLanguage('cuda', cuda)
  const highlight = (code, language) => (hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : '')
  const markdown = need('markdown-it')({ html: true, highlight })
  const onPaper = (text) => text.replace(/!\[[^\]]*\]\([^)]*\)/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return { html: (text) => markdown.render(onPaper(text)), inline: (text) => markdown.renderInline(text) }
}

const document = ({ title, body }, style) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head>
<body><h1>${title}</h1>
${body}
${origin({ onPaper: true })}</body></html>
`

/**
 * Writes { name: { title, body, onOnePage } } into the folder. Returns { name: how many pages }, of those that were
 * printed; what shall be on one page is made smaller until it is, or cannot be.
 */
export async function writePages(packages, folder, pages) {
  const style = readFileSync(new URL('handout.css', import.meta.url), 'utf8')
  mkdirSync(folder, { recursive: true })
  for (const [name, page] of Object.entries(pages)) writeFileSync(join(folder, `${name}.html`), document(page, style))
  const counts = {}
  if (!process.env.CHROME_PATH) return counts
  const chromium = await openChromium(packages)
  const tab = await chromium.newPage()
  for (const [name, { onOnePage }] of Object.entries(pages)) {
    await tab.goto(pathToFileURL(resolve(folder, `${name}.html`)))
    for (const [height, scale] of onOnePage ? FITS : [[0, 1]]) {
      await tab.evaluate((value) => document.body.style.setProperty('--figure', `${value}mm`), height)
      const pdf = await tab.pdf({ preferCSSPageSize: true, printBackground: true, scale })
      writeFileSync(join(folder, `${name}.pdf`), pdf)
      counts[name] = Buffer.from(pdf).toString('latin1').match(/\/Type \/Page\b/g).length
      if (counts[name] === 1) break
    }
  }
  await chromium.close()
  return counts
}
