// SPDX-License-Identifier: MIT
// GitHub's Markdown as far as the site needs it: code, links, and the names of headings.

// All that is not running text, from left to right: a fenced block (group 1), a comment (3), `code` (4).
const NOT_TEXT =
  /(^[ \t>]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t>]*\2[`~]*[ \t]*$|(?![\s\S])))|(<!--[\s\S]*?-->)|((?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?(?<!`)\5(?!`))/gm

const INLINE_LINK = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/dg
const DEFINITION = /^ {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*<?([^\s>]+)>?/dgm
const HTML_LINK = /<(?:img|source|a)\b[^>]*?\b(?:src|srcset|href)="([^"]+)"/dg

/** The text with what `change(comment)` returns in place of each comment. */
export function withComments(markdown, change) {
  return markdown.replace(NOT_TEXT, (all, fence, marks, comment) => (comment === undefined ? all : change(comment)))
}

/** The text without its comments. A comment that fills lines of its own leaves one empty line. */
export const withoutComments = (markdown) => withComments(markdown, () => '')

/** The text with code and comments blanked out, every position kept. */
export function runningText(markdown) {
  return markdown.replace(NOT_TEXT, (all) => all.replace(/[^\n]/g, '\0'))
}

/** The anchor that GitHub gives a heading's text. */
export function slug(text) {
  return text.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replace(/ /g, '-')
}

/** Headings in order: { level, text, anchor, at }, where `at` is the position of its line. */
export function headings(markdown) {
  const found = []
  const uses = new Map()
  const text = runningText(markdown)
  for (const match of text.matchAll(/^(#{1,6})[ \t]+(.*?)[ \t]*#*$/gm)) {
    const start = match.index + match[1].length
    const line = markdown.slice(start, match.index + match[0].length).trim()
    const plain = line.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/<[^>]*>|[`*]/g, '')
    const name = slug(plain)
    const before = uses.get(name) ?? 0
    uses.set(name, before + 1)
    found.push({ level: match[1].length, text: plain, anchor: before ? `${name}-${before}` : name, at: match.index })
  }
  return found
}

/** Anchors that a link may name: those of the headings, and ids given in HTML. */
export function anchors(markdown) {
  const given = [...runningText(markdown).matchAll(/<\w+\b[^>]*?\b(?:id|name)="([^"]+)"/g)].map((m) => m[1])
  return new Set([...headings(markdown).map((h) => h.anchor), ...given])
}

/** What stands between `![` and the bracket that closes at the position; null when that is no image's. */
function textOfImage(text, at) {
  let depth = 0
  for (let i = at; i >= 0; i--) {
    if (text[i] === ']') depth++
    else if (text[i] === '[' && --depth === 0) return text[i - 1] === '!' ? text.slice(i + 1, at) : null
  }
  return null
}

/** Where links and images lead, in order: { target, line, image, alt, html, start, end }; of HTML's images no `alt`. */
export function links(markdown) {
  const text = runningText(markdown)
  const found = []
  const add = (match, image, html, alt = null) => {
    const [start, end] = match.indices[1]
    const line = text.slice(0, start).split('\n').length
    found.push({ target: markdown.slice(start, end), line, image, alt, html, start, end })
  }
  for (const match of text.matchAll(INLINE_LINK)) {
    const alt = textOfImage(text, match.index)
    add(match, alt !== null, false, alt)
  }
  for (const match of text.matchAll(DEFINITION)) add(match, false, false)
  for (const match of text.matchAll(HTML_LINK)) add(match, !match[0].startsWith('<a'), true)
  return found.sort((a, b) => a.start - b.start)
}

/** The text with every link's target replaced by what `change(link)` returns. */
export function withLinks(markdown, change) {
  let result = ''
  let done = 0
  for (const link of links(markdown)) {
    result += markdown.slice(done, link.start) + change(link)
    done = link.end
  }
  return result + markdown.slice(done)
}
