// SPDX-License-Identifier: MIT
// What a phone needs of tables (theme/phone.css). A table of words, of three columns or more, each with a name and none of them numbers,
// is shown as a card for each row: it gets the class "cards", and each of its cells the name of its column. In other tables a cell says
// how much room its words want: "words", "sentence".

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
      if (columns.length < 3 || columns.some(({ token, text }) => !text || /right|center/.test(token.attrGet('style') ?? ''))) {
        for (const { token, text } of cells('td_open')) if (text.length > 8) token.attrJoin('class', text.length > 60 ? 'sentence' : 'words')
        return
      }
      table.attrJoin('class', 'cards')
      cells('td_open').forEach(({ token }, i) => token.attrSet('data-column', columns[i % columns.length].text))
    })
  })
}

const plain = ({ children }) => children.filter(({ type }) => /^(text|code_inline)$/.test(type)).map(({ content }) => content).join('')
