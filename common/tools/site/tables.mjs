// SPDX-License-Identifier: MIT
// What a phone needs of tables (theme/phone.css). A table of words, of three columns or more, each with a name and none of them numbers,
// is shown as a card for each row: it gets the class "cards", and each of its cells the name of its column. So is one with a column of numbers
// among five or more. In other tables a cell says how much room its words want: "words", "sentence"; and a column of names that must be broken
// stands behind the numbers that it is about.

/** For markdown-it. */
export function cards(md) {
  // VitePress's own rule leaves the class out.
  md.renderer.rules.table_open = (tokens, i, options, _env, self) => {
    tokens[i].attrSet('tabindex', '0')
    return self.renderToken(tokens, i, options)
  }
  md.core.ruler.push('cards', ({ tokens }) => {
    tokens.forEach((table, first) => {
      if (table.type !== 'table_open') return
      const cells = (type) => {
        const last = tokens.findIndex((token, i) => i > first && token.type === 'table_close')
        return tokens.slice(first, last).flatMap((token, i, all) => (token.type === type ? [{ token, text: plain(all[i + 1]) }] : []))
      }
      const columns = cells('th_open')
      const numbers = columns.filter(({ token }) => /right|center/.test(token.attrGet('style') ?? '')).length
      const names = columns.findIndex((_, k) => cells('td_open').some(({ text }, i) => i % columns.length === k && /[\w.]{35}/.test(text)))
      if (names > 0 && numbers > 0) moveToTheEnd(tokens, first, names)
      if (columns.length < 3 || 5 * numbers > columns.length || names > 0 || columns.some(({ text }) => !text)) {
        for (const { token, text } of cells('td_open')) if (text.length > 8) token.attrJoin('class', text.length > 60 ? 'sentence' : 'words')
        return
      }
      table.attrJoin('class', 'cards')
      cells('td_open').forEach(({ token }, i) => token.attrSet('data-column', columns[i % columns.length].text))
    })
  })
}

/** In each row of the table that begins there the cell of a column. */
function moveToTheEnd(tokens, first, column) {
  for (let i = first; tokens[i].type !== 'table_close'; i++) {
    if (tokens[i].type !== 'tr_open') continue
    const cells = tokens.splice(i + 1, tokens.findIndex(({ type }, at) => at > i && type === 'tr_close') - i - 1)
    cells.push(...cells.splice(3 * column, 3))
    tokens.splice(i + 1, 0, ...cells)
  }
}

const plain = ({ children }) => children.filter(({ type }) => /^(text|code_inline)$/.test(type)).map(({ content }) => content).join('')
