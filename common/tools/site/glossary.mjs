// SPDX-License-Identifier: MIT
// The glossary as a page of the site: each term is a heading, so that the search knows it as a title and finds it first.

import { escapeHtml } from './markdown.mjs'

/** Its Markdown with a heading in place of each `<a id="bank"></a>**bank**: `. */
export function withTermsAsHeadings(glossary) {
  return glossary.replace(/^<a id="([^"]+)"><\/a>\*\*(.+?)\*\*: /gm, (_, anchor, term) => {
    const name = escapeHtml(term.replace(/`/g, ''))
    return `<h3 id="${anchor}" class="term" tabindex="-1">${name} <a class="header-anchor" href="#${anchor}" aria-label="Permalink to ${name}">&#8203;</a></h3>\n\n`
  })
}

/**
 * For the search: how much an entry of the glossary counts whose term has the word that was asked for, beside other places 1.
 * VitePress sends its text to the browser, so it stands alone.
 */
export function glossaryFirst(place, word, { title }) {
  return place.includes('GLOSSARY') && title.toLowerCase().split(/[\s-]+/).includes(word) ? 10 : 1
}
