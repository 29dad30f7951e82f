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

export const escapeHtml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')

/** A line of Markdown as HTML: code, emphasis, and text. */
export function inlineHtml(line) {
  return line.replace(/`([^`]*)`|\*([^*]+)\*|[^`*]+/g, (all, code, emphasis) =>
    code !== undefined ? `<code>${escapeHtml(code)}</code>` : emphasis !== undefined ? `<em>${escapeHtml(emphasis)}</em>` : escapeHtml(all),
  )
}

/** HTML in which names and paths that a line may be too short for can be broken between their words. */
export const breakable = (html, least = 25) => html.replace(new RegExp(`[\\w.:,=/-]{${least},}`, 'g'), (name) => name.replace(/(?<=[_.:,=/]|[a-z0-9](?=[A-Z]))(?=[A-Za-z0-9])/g, '<wbr>'))

/** The same for what stands in a cell of a table. */
export const breakableCell = (html) => breakable(html, /^\w+$/.test(html) ? 16 : 25)

/** A value as an attribute of HTML. */
export const asAttribute = (value) => escapeHtml(JSON.stringify(value))

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

// ---- guesses --------------------------------------------------------------------------------------

const NUMBER = String.raw`(\d+(?:,\d{3})*(?:\.\d+)?)`

/** The text of Markdown: no emphasis, no code, no links, no tags. */
function plain(markdown) {
  return markdown.replace(/!\[[^\]]*\]\([^)]*\)/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/<[^>]*>|[`*_]/g, '').replace(/\s+/g, ' ')
}

/** How a question is answered, said in a comment before it: see questionForm. */
export const GUESS_COMMENT = /^<!--\s*guess\b(?::)?([\s\S]*?)-->$/

/**
 * What a comment says of a question: `= the right choice` and `- another one | why it fails`, a line each; or words of the answer
 * with # for the number that answers, as in `From #` or `# threads`, where what stands behind # is its unit. Where several are asked for, each has a
 * line and a name before it, `by rows | # by rows`. `answer` is the text in which they stand. { choices } or { numbers }; a text says what is wrong.
 */
export function questionForm(lines, answer) {
  const given = lines.split('\n').map((line) => line.trim()).filter(Boolean)
  if (given.every((line) => /^[=-] /.test(line))) {
    const choices = given.map((line) => {
      const [text, why] = line.slice(2).split(' | ')
      return { right: line[0] === '=', text: inlineHtml(text.trim()), ...(line[0] === '-' && why ? { why: inlineHtml(why.trim()) } : {}) }
    })
    if (choices.length < 2 || choices.filter(({ right }) => right).length !== 1) return 'needs two choices or more, one of them behind ='
    if (choices.some(({ right, why }) => !right && !why)) return 'a choice behind - says why it fails, behind |'
    return { choices: choices.map(({ text, why }) => (why ? { text, why } : { text })) }
  }
  const numbers = []
  for (const line of given) {
    const [label, words] = line.includes(' | ') ? line.split(' | ') : ['', line]
    const unit = words.split('#')[1]?.trim()
    const [before, after] = words.split('#').map((text) => text.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const found = unit !== undefined && new RegExp(`${before}\\s*(?<![\\d.,])${NUMBER}[ -]?${after}`).exec(plain(answer))
    if (!found) return `"${words}" is not in the answer`
    numbers.push({ value: found[1].replace(/,/g, ''), unit: label ? '' : unit, ...(label ? { label: label.replace(/`/g, '') } : {}) })
  }
  return { numbers }
}

const BEGINS = /^(?:\*\*Guess\.\*\*|<details><summary><b>Guess\.<\/b>)/gm
const ASKED = /^<details><summary><b>Guess\.<\/b>([\s\S]*?)<\/summary>([\s\S]*?)\n<\/details>\n/m

/** The sections of level 2: { title, anchor, at, text }. */
export function sections(markdown) {
  const starts = headings(markdown).filter((h) => h.level === 2)
  return starts.map(({ at, anchor, text: title }, i) => ({ title, anchor, at, text: markdown.slice(at, starts[i + 1]?.at) }))
}

/** The text with what `change(section)` returns in place of each section. */
export function withSections(markdown, change) {
  const parts = sections(markdown)
  return markdown.slice(0, parts[0]?.at) + parts.map(change).join('')
}

/** What a section asks: { before, question, answer, rest }, else null. The answer stands in the question's fold, the texts around are before and rest. */
export function guessIn(section) {
  const asked = ASKED.exec(section)
  if (!asked) return null
  const [fold, question, answer] = asked
  return { before: section.slice(0, asked.index), question: question.trim(), answer: answer.trim(), rest: section.slice(asked.index + fold.length).trim() }
}

/**
 * A lesson whose results wait: the answer to a guess, and what follows to the end of its section, stand in a <GuessFirst>,
 * an element of theme/guess.mjs that shows them when the reader has guessed. The guess's fold is gone there. A guess
 * is compared with a number that a comment before it tells, or is one of the comment's choices; `complain(anchor, what)` hears
 * of one that is neither, and of one that would wait for nobody.
 */
export function withGuesses(markdown, chapter, complain) {
  const opening = markdown.slice(0, sections(markdown)[0]?.at)
  if (opening.match(BEGINS)) complain(headings(markdown)[0].anchor, 'it stands before the first section')
  return withSections(markdown, ({ anchor, text }) => {
    const guess = guessIn(text)
    if ((text.match(BEGINS)?.length ?? 0) > (guess ? 1 : 0)) complain(anchor, 'a section has one, with its answer')
    if (!guess) return text
    const comment = /(<!--\s*guess\b(?:(?!-->)[\s\S])*-->)\s*$/.exec(guess.before)
    const asked = comment ? questionForm(GUESS_COMMENT.exec(comment[1])[1], guess.answer) : 'no comment gives choices, or says where the number stands'
    if (typeof asked === 'string') complain(anchor, asked)
    return [
      `${comment ? guess.before.slice(0, comment.index) : guess.before}**Guess.** ${guess.question}\n`,
      `<GuessFirst name="${chapter}#${anchor}" asked="${asAttribute(asked)}">\n`,
      `${guess.answer}\n`,
      `${guess.rest}\n`,
      '</GuessFirst>\n\n',
    ].join('\n')
  })
}
