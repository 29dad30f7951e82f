// SPDX-License-Identifier: MIT
// The decks that `make slides` has built, as files of the site. A deck is one HTML file.

import fs from 'node:fs'
import path from 'node:path'

/**
 * The decks: { name, title, url, pdf }, where `pdf` says whether there is one; the deck that belongs to no chapter as
 * `.opening`. Puts them, and a page that lists them, into `files`.
 */
export function findDecks(root, files) {
  const folder = path.join(root, 'build/slides')
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).sort() : []
  const take = (file) => files.set(`public/slides/${file}`, fs.readFileSync(path.join(folder, file)))
  const decks = names.filter((name) => /^\d\d_\w+\.html$/.test(name)).map((file) => {
    take(file)
    const name = path.basename(file, '.html')
    const pdf = names.includes(`${name}.pdf`)
    if (pdf) take(`${name}.pdf`)
    const title = /<title>([^<]*)<\/title>/.exec(String(files.get(`public/slides/${file}`)))?.[1].trim() || name
    return { name, title, url: `slides/${file}`, pdf }
  })
  if (decks.length > 0) files.set('slides/index.md', overview(decks))
  decks.opening = decks.find((d) => d.name.startsWith('00_'))
  return decks
}

function overview(decks) {
  const items = decks.map((deck) => {
    const pdf = deck.pdf ? ` · <a href="./${deck.name}.pdf" target="_self">PDF</a>` : ''
    // A title is HTML already.
    return `<li><a href="./${deck.name}.html" target="_self">${deck.title}</a>${pdf}</li>`
  })
  const help = `A deck needs no network. Keys: arrows to move, <kbd>F</kbd> for the whole screen, <kbd>P</kbd> for the speaker's view with notes.`
  return `---\noutline: false\nprev: false\nnext: false\n---\n\n# Slides\n\n<p>${help}</p>\n\n<ul>\n${items.join('\n')}\n</ul>\n`
}
