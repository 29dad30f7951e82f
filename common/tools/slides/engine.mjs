// SPDX-License-Identifier: MIT
// Marp's engine for the decks: CUDA code is highlighted, figures are put into the page itself, every
// slide knows the line it was written on, the last one says whose the deck is, and nothing is fetched from anywhere.
import { readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { cuda } from '../site/cuda_words.mjs'
import { picturesCanBeExplored } from './explore.mjs'
import { origin } from './origin.mjs'
import { drawsPictures } from './pictures.mjs'

const DECKS = 'slides' // where the images' paths start; make runs in the repository's root
const TYPES = { '.svg': 'image/svg+xml', '.png': 'image/png', '.jpg': 'image/jpeg' }

// Figures as data: the HTML is one file that can be handed on.
function figuresInline(md) {
  md.core.ruler.push('figures_inline', (state) => {
    for (const token of state.tokens) {
      for (const child of token.children ?? []) {
        const source = child.type === 'image' && child.attrGet('src')
        if (!source || /^[a-z]+:/.test(source)) continue
        const file = resolve(DECKS, decodeURI(source))
        const type = TYPES[extname(file)]
        if (type) child.attrSet('src', `data:${type};base64,${readFileSync(file, 'base64')}`)
      }
    }
  })
}

// A paragraph that is nothing but *emphasis* names device, date and file of a measurement.
function sourcesAreMarked(md) {
  md.core.ruler.push('sources_are_marked', (state) => {
    state.tokens.forEach((token, index) => {
      const children = token.type === 'inline' ? token.children : []
      const ends = children.length > 2 && children[0].type === 'em_open' && children.at(-1).type === 'em_close'
      const isWhole = ends && children.filter((child) => child.type === 'em_open').length === 1
      if (isWhole && state.tokens[index - 1].type === 'paragraph_open') state.tokens[index - 1].attrJoin('class', 'source')
    })
  })
}

// <section data-line="42">: the check names the line of the deck.
function slidesKnowTheirLine(md) {
  md.core.ruler.push('slides_know_their_line', (state) => {
    for (const token of state.tokens) {
      if (token.type === 'marpit_slide_open' && token.map) token.attrSet('data-line', String(token.map[0] + 1))
    }
  })
}

// A deck is handed on alone: its last slide says whose it is.
function lastSlideNamesOrigin(md) {
  md.core.ruler.push('last_slide_names_origin', (state) => {
    const paragraph = new state.Token('html_block', '', 0)
    paragraph.content = origin()
    const end = state.tokens.map((token) => token.type).lastIndexOf('marpit_slide_close')
    if (end >= 0) state.tokens.splice(end, 0, paragraph)
  })
}

// Marp's own options hold what the command line said; `marp` would be made from them without these.
export default (options) => {
  const Marp = options.marp.constructor
  const { marp: _, ...given } = Object.getOwnPropertyDescriptors(options)
  const plain = Object.fromEntries(Object.entries(given).map(([name, { value }]) => [name, value]))
  const engine = new Marp({ ...plain, html: true, math: 'mathjax', emoji: { shortcode: false, unicode: false } })
  engine.highlightjs.registerLanguage('cuda', cuda)
  return engine.use(drawsPictures).use(figuresInline).use(picturesCanBeExplored(DECKS)).use(sourcesAreMarked).use(slidesKnowTheirLine).use(lastSlideNamesOrigin)
}
