// SPDX-License-Identifier: MIT
// Copies what the site shows into a folder for VitePress: READMEs become index pages, links lead to pages,
// comments are left out. The Markdown itself stays as GitHub shows it; nothing in it is for the site.
//
//   node prepare.mjs REPOSITORY FOLDER BASE TOOLS
//
// Prints one line, "HASH N pages, ...". The same sources, and the same files in TOOLS, which say how
// the site is built from them, give the same HASH.
// What is wrong with the sources is printed as FILE:LINE: WHAT, exit status 1.

import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { findDecks } from './decks.mjs'
import { explorable } from './explore/data.mjs'
import { withTermsAsHeadings } from './glossary.mjs'
import { withCode } from './labs.mjs'
import { GUESS_COMMENT, escapeHtml, headings, runningText, withGuesses, withLinks, withComments, withSections, withoutComments } from './markdown.mjs'
import { withPanels } from './panels.mjs'
import { filesBelow, findChapters, findPages, listings, resolveLink } from './pages.mjs'
import { quizOf, toldByLength } from './quiz.mjs'
import { figurePage, folderPage, sourcePage, tablePage } from './source_pages.mjs'

const [root, out, base, tools] = process.argv.slice(2)
const read = (file) => fs.readFileSync(path.join(root, file), 'utf8')
const GLOSSARY = 'chapters/GLOSSARY.md'
const sentences = sentencesOf(fs.existsSync(path.join(root, GLOSSARY)) ? read(GLOSSARY) : '')

const chapters = findChapters(root)
const { pages, problems } = findPages(root, chapters)
function stopAt(problems) {
  if (problems.length === 0) return
  console.error(problems.join('\n'))
  process.exit(1)
}
stopAt(problems)

/** Everything the site is made of: a Map from a path below `out` to text, or to a Buffer. */
const files = new Map()
const decks = findDecks(root, files)
const exercisesOf = {} // how many there are, by the page's address

const relative = (from, to) => {
  const way = path.posix.relative(path.posix.dirname(from), to || '.')
  const slash = to === '' || to.endsWith('/') ? '/' : ''
  return encodeURI(`${way.startsWith('.') ? way : `./${way}`}${slash}`.replace(/\/\/$/, '/'))
}
const asUrl = (place) => place.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')
/** The address of one file's page on another's, and from the root of the site. */
const url = (from, to) => relative(pages.get(from).place, asUrl(pages.get(to).place))
const fromRoot = (file) => `/${asUrl(pages.get(file).place)}`
const link = (text, url) => `<a href="${url}">${escapeHtml(text)}</a>`

/** Minutes to read: 180 words of text, or 12 lines of code or table, a minute; in steps of five. */
function minutesToRead(markdown) {
  const text = runningText(withoutComments(markdown))
  const lines = text.split('\n')
  const dense = lines.filter((l) => l.startsWith('|') || /^\0/.test(l)).length
  const words = lines.filter((l) => !l.startsWith('|')).join(' ').split(/\s+/).filter((w) => /\p{L}/u.test(w)).length
  return Math.max(5, 5 * Math.round((words / 180 + dense / 12) / 5))
}

/** Minutes that the exercises of a lab take together, by their lines "name · kind · 10 minutes · 1 point". */
function minutesOfLab(markdown) {
  return [...runningText(markdown).matchAll(/·\s*(\d+)\s+minutes\b/g)].reduce((sum, m) => sum + Number(m[1]), 0)
}

/** The text with a line above every listing: which lines of which program these are. */
function withCaptions(file, text, program) {
  let result = ''
  let done = 0
  for (const { at, source, first, last } of listings(root, file, text, program)) {
    const lines = first === last ? `line ${first}` : `lines ${first}–${last}`
    const program = link(path.posix.basename(source), `${url(file, source)}#L${first}`)
    result += `${text.slice(done, at)}<p class="listing">${program} · ${lines}</p>\n\n`
    done = at
  }
  return result + text.slice(done)
}

/** The text with an <ExploreFigure>, of theme/index.mjs, around each picture that can be explored. */
function withExplorables(file, text) {
  return text.replace(/^!\[.*\]\((\S+\.svg)\)$/gm, (image, target) => {
    const picture = resolveLink(root, file, target)?.file
    const data = picture && explorable(root, picture)
    if (!data) return withPanels(root, picture, image)
    const place = picture.replace(/\.svg$/, '.json')
    files.set(`public/${place}`, `${JSON.stringify(data)}\n`)
    return `<ExploreFigure src="${base}${place}">\n\n${image}\n\n</ExploreFigure>`
  })
}

/** What the glossary says of each term, by its anchor, as plain text. */
function sentencesOf(glossary) {
  const entries = withoutComments(glossary).matchAll(/^<a id="([^"]+)"><\/a>\*\*.+?\*\*: (.+)$/gm)
  return new Map([...entries].map(([, anchor, text]) => [anchor, text.replace(/ *\[\d\d\]\(\S+\)/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/(`[^`]*`)|\*+/g, (all, code) => code?.slice(1, -1) ?? '').trim()]))
}

/** A Markdown file as the site shows it: links lead to pages, those to a term bring its sentence, comments are gone. */
function rewritten(file, program = null) {
  const place = pages.get(file).place
  const text = withLinks(read(file), ({ target, image, html }) => {
    const to = resolveLink(root, file, target)
    if (!to) return target
    if (to.file === file) return `#${to.anchor}`
    const page = pages.get(to.file)
    if (image) return relative(place, page.place)
    const goal = page.page ?? page.place
    const anchor = to.anchor && ['markdown', 'source'].includes(page.kind) ? `#${to.anchor}` : ''
    const address = relative(place, html ? asUrl(goal) : goal) + anchor
    const sentence = to.file === GLOSSARY && !html && sentences.get(to.anchor)
    return sentence ? `${address} "${sentence.replace(/"/g, '&quot;')}"` : address
  })
  // What a comment says of a guess is for withGuesses.
  return withExplorables(file, withComments(withCaptions(file, text, program), (comment) => (GUESS_COMMENT.test(comment) ? comment : '')))
}

/** The page with a line of facts below its title. */
function withFacts(markdown, ...facts) {
  return markdown.replace(/^# .*$/m, (title) => `${title}\n\n<p class="facts">${facts.join(' · ')}</p>`)
}

/** Each section of level 2 becomes a fold, its heading what a reader opens it by. */
function folded(markdown) {
  return withSections(markdown, ({ text }) => {
    const end = text.indexOf('\n')
    return `<details class="section"><summary>\n\n${text.slice(0, end)}\n\n</summary>\n${text.slice(end).trimEnd()}\n\n</details>\n\n`
  })
}

const tick = (label, exercise = '') => `\n<TickDone label="${label}"${exercise && ` exercise="${exercise}"`} />\n\n`

/** Labs with a box to tick below each exercise, a section with a number: { text, exercises }. */
function withTicks(markdown) {
  let exercises = 0
  const text = withSections(markdown, ({ text: section }) =>
    /^## \d+\. /.test(section) ? section.trimEnd() + '\n' + tick('I have solved it', ++exercises) : section,
  )
  return { text, exercises }
}

const frontmatter = (settings) => `---\n${Object.entries(settings).map(([k, v]) => `${k}: ${JSON.stringify(v)}`).join('\n')}\n---\n\n`
const ALONE = frontmatter({ prev: false, next: false }) // a page beside the course's order

/**
 * The front page with the ladder of the sum above the table with its numbers, and like that behind the front page's question:
 * a bar for each row, as long as its number, that leads to its chapter.
 */
function withLadder(home) {
  const table = /^\| chapter \| what changed \| (GB\/s.*?) \|\n\|[-:|]+\|\n((?:\|.*\n)+)/m.exec(home)
  if (!table) return home
  const rows = [...table[2].matchAll(/^\| (\d\d) \| (.*?) \| ([\d.,]+) \|$/gm)].flatMap(([, number, what, rate]) => {
    const chapter = chapters.find((c) => c.number === number)
    return chapter ? [{ number, what: what.split(';')[0], rate: Number(rate.replace(',', '')), to: url('README.md', chapter.notes) }] : []
  })
  const most = Math.max(...rows.map(({ rate }) => rate))
  const bars = rows.map(({ number, what, rate, to }) => {
    const width = `${((100 * rate) / most).toFixed(2)}%`
    return `<li><a href="${to}"><span>${number} · ${escapeHtml(what)}</span><span class="bar"><span style="width: ${width}"></span></span></a></li>`
  })
  const title = `One sum, step by step: ${table[1]}, on a linear axis.`
  const ladder = `<p class="ladder-title">${title}</p>\n\n<ol class="ladder">\n${bars.join('\n')}\n</ol>\n\n`
  return home.slice(0, table.index) + ladder + home.slice(table.index)
}

function writeChapters() {
  // The order of the course: each chapter's notes, then its labs.
  const way = [{ file: 'README.md', text: 'Overview' }]
  for (const c of chapters) {
    way.push({ file: c.notes, text: c.title })
    if (c.labs) way.push({ file: c.labs, text: `Labs of ${c.number}` })
  }
  const neighbour = (file, step) => {
    const to = way[way.findIndex((w) => w.file === file) + step]
    return to ? { text: to.text, link: fromRoot(to.file) } : false
  }
  const step = (file) => frontmatter({ prev: neighbour(file, -1), next: neighbour(file, 1) })
  /** A link for each of the files that the chapter has, { text: file }. */
  const links = (from, files) => Object.entries(files).flatMap(([text, file]) => (file ? [link(text, url(from, file))] : []))

  for (const c of chapters) {
    const deck = decks.find((d) => d.name === c.name)
    const slides = (from) => (deck ? [link('Slides', relative(pages.get(from).place, deck.url))] : [])
    const facts = [`About ${minutesToRead(read(c.notes))} minutes to read`, ...links(c.notes, { 'Lab notes': c.labNotes, Program: c.program, Labs: c.labs })]
    const notes = withFacts(rewritten(c.notes, c.program), ...facts, ...slides(c.notes))
    const lesson = withGuesses(notes, c.name, (anchor, what) => problems.push(`${c.notes}: the guess of #${anchor}: ${what}`))
    const quiz = quizOf(root, c, (what) => problems.push(`chapters/quiz.md: ${what}`))
    files.set(pages.get(c.notes).place, `${step(c.notes)}${lesson.trimEnd()}\n${quiz}${tick('I have read this chapter')}`)
    if (c.labNotes) {
      const labNotes = withFacts(rewritten(c.labNotes, c.program), ...links(c.labNotes, { [`Lesson of chapter ${c.number}`]: c.notes }))
      files.set(pages.get(c.labNotes).place, ALONE + folded(labNotes))
    }
    if (!c.labs) continue
    const minutes = minutesOfLab(read(c.labs))
    const time = minutes > 0 ? [`About ${minutes} minutes together`] : []
    const labs = withCode(root, c.labs, rewritten(c.labs), (file, text) => link(text, url(c.labs, file)))
    const { text, exercises } = withTicks(withFacts(labs, ...time, ...links(c.labs, { Notes: c.notes }), ...slides(c.labs)))
    files.set(pages.get(c.labs).place, step(c.labs) + text)
    exercisesOf[`${base}${asUrl(pages.get(c.labs).place)}`] = exercises
  }

  const told = toldByLength(root)
  if (told) problems.push(`chapters/quiz.md: ${told}`)

  // The front page: where to start stands at the top.
  const first = chapters[0]
  const actions = []
  const action = (file, text, kind = '') => pages.has(file) && actions.push(`<a class="action${kind}" href="${url('README.md', file)}">${text}</a>`)
  action(first?.notes, `Start with chapter ${first?.number}`, ' first')
  action(chapters.find((c) => c.labs)?.labs, 'Go to the first lab')
  action('chapters/README.md', 'Teach with it')
  const home = withLadder(rewritten('README.md'))
  const opening = /^# .*\n+(?:(?!#|`|<|\||!).+\n)+/m.exec(home)
  const at = opening ? opening.index + opening[0].length : 0
  const bar = actions.length > 0 ? `\n<p class="actions">${actions.join(' ')}</p>\n\n` : ''
  files.set('index.md', step('README.md') + home.slice(0, at) + bar + home.slice(at))
}

/** The chapter that a file belongs to gets a way back from the file's page. */
function wayBack(file) {
  const chapter = chapters.find((c) => file.startsWith(`${c.folder}/`))
  return chapter ? [link(`Notes of chapter ${chapter.number}`, url(file, chapter.notes))] : []
}

function writePages() {
  for (const [file, { kind, place, page }] of pages) {
    if (kind === 'image') files.set(place, fs.readFileSync(path.join(root, file)))
    if (page) files.set(page, figurePage(root, file))
    if (kind === 'source') files.set(place, sourcePage(root, file, wayBack(file)))
    if (kind === 'folder') files.set(place, folderPage(root, file, pages))
    if (kind === 'table') {
      files.set(place, tablePage(root, file, wayBack(file)))
      files.set(`public/${place.replace(/\.md$/, '')}`, fs.readFileSync(path.join(root, file)))
    }
    if (file === GLOSSARY) files.set(place, frontmatter({ prev: false, next: false, outline: 2 }) + withTermsAsHeadings(rewritten(file)))
    if (kind === 'markdown' && !files.has(place)) files.set(place, ALONE + rewritten(file))
  }
}

/** What a menu has: a page, where there is one, or a deck. */
const item = (text, file) => (pages.has(file) ? [{ text, link: fromRoot(file) }] : [])
const slidesItem = (text, deck) => (deck ? [{ text, link: `/${deck.url}`, target: '_self' }] : [])

/** The list at the left of every page. */
function sidebar() {
  const start = [{ text: 'Overview', link: '/' }, ...slidesItem('Opening slides', decks.opening), ...item('Glossary', GLOSSARY)]
  const lessons = chapters.map((c) => ({
    text: c.title,
    link: fromRoot(c.notes),
    collapsed: true,
    items: [
      ...item('Labs', c.labs),
      ...item('Lab notes', c.labNotes),
      ...slidesItem('Slides', decks.find((d) => d.name === c.name)),
      ...item('Program', c.program),
    ],
  }))
  const more = [...item('Teaching', 'chapters/README.md'), ...item('Contributing', '.github/CONTRIBUTING.md')]
  return [
    { text: 'Start here', items: start },
    { text: 'Chapters', items: [...lessons, ...item('Your own kernel', 'chapters/your_own_kernel/README.md')] },
    ...(more.length > 0 ? [{ text: 'For teachers and authors', items: more }] : []),
  ]
}

/** The links at the top right of every page. */
function nav() {
  const slides = decks.length > 0 ? [{ text: 'Slides', link: '/slides/' }] : []
  return [{ text: 'Start', link: '/' }, ...slides, ...item('Glossary', GLOSSARY), ...item('Teaching', 'chapters/README.md')]
}

writeChapters()
writePages()
stopAt(problems)
for (const file of filesBelow(path.join(tools, 'public'))) files.set(`public/${path.basename(file)}`, fs.readFileSync(file))
const home = read('README.md')
const title = headings(home)[0]?.text ?? 'Tutorial'
const first = withoutComments(home).split(/^# .*$/m)[1]?.trim().split(/\n\s*\n/)[0] ?? ''
const description = first.replace(/[*`]/g, '').replace(/\s+/g, ' ')
files.set('site.json', `${JSON.stringify({ title, description, base, exercises: exercisesOf, nav: nav(), sidebar: sidebar() }, null, 2)}\n`)

const hash = crypto.createHash('sha256')
fs.rmSync(out, { recursive: true, force: true })
for (const name of [...files.keys()].sort()) {
  const file = path.join(out, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, files.get(name))
  hash.update(`${name}\0`).update(files.get(name)).update('\0')
}
for (const file of filesBelow(tools).sort()) {
  hash.update(`${path.relative(tools, file)}\0`).update(fs.readFileSync(file)).update('\0')
}
const markdown = [...files.keys()].filter((f) => f.endsWith('.md')).length
const counts = [`${markdown} pages`, `${chapters.filter((c) => c.labs).length} labs`, `${decks.length} decks`]
console.log(`${hash.digest('hex')} ${counts.join(', ')}`)
