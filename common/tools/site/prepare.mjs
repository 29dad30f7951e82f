// SPDX-License-Identifier: MIT
// Copies what the site shows into a folder for VitePress: READMEs become index pages, links lead to pages,
// comments are left out. The Markdown itself stays as GitHub shows it; nothing in it is for the site.
//
//   node prepare.mjs REPOSITORY FOLDER BASE TOOLS
//
// Prints one line, "HASH BASE N pages, ...". The same sources, and the same files in TOOLS, which say how
// the site is built from them, give the same HASH.
// What is wrong with the sources is printed as FILE:LINE: WHAT, exit status 1.

import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { findDecks } from './decks.mjs'
import { explorable } from './explore/data.mjs'
import { listings } from './listings.mjs'
import { headings, runningText, withGuesses, withLinks, withoutComments } from './markdown.mjs'
import { SourceErrors, findChapters, findPages, resolveLink } from './pages.mjs'
import { escapeHtml, figurePage, folderPage, sourcePage, tablePage } from './source_pages.mjs'

const [root, out, base, tools] = process.argv.slice(2)
const read = (file) => fs.readFileSync(path.join(root, file), 'utf8')
const GLOSSARY = 'chapters/GLOSSARY.md'
const sentences = sentencesOf(fs.existsSync(path.join(root, GLOSSARY)) ? read(GLOSSARY) : '')

/** Everything the site is made of: a Map from a path below `out` to text, or to a Buffer. */
const files = new Map()
const exercisesOf = {} // how many there are, by the page's address

const relative = (from, to) => {
  const way = path.posix.relative(path.posix.dirname(from), to || '.')
  const slash = to === '' || to.endsWith('/') ? '/' : ''
  return encodeURI(`${way.startsWith('.') ? way : `./${way}`}${slash}`.replace(/\/\/$/, '/'))
}
const asUrl = (place) => place.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html')
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
function withCaptions(file, text, pages, program) {
  const place = pages.get(file).place
  let result = ''
  let done = 0
  for (const { at, source, first, last } of listings(root, file, text, program)) {
    const name = path.posix.basename(source)
    const lines = first === last ? `line ${first}` : `lines ${first}–${last}`
    const url = `${relative(place, asUrl(pages.get(source).place))}#L${first}`
    result += `${text.slice(done, at)}<p class="listing">${link(name, url)} · ${lines}</p>\n\n`
    done = at
  }
  return result + text.slice(done)
}

/** The text with an <ExploreFigure>, of theme/index.mjs, around each picture that can be explored. */
function withExplorables(file, text) {
  return text.replace(/^!\[.*\]\((\S+\.svg)\)$/gm, (image, target) => {
    const picture = resolveLink(root, file, target)?.file
    const data = picture && explorable(root, picture)
    if (!data) return image
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
function rewritten(file, pages, program = null) {
  const place = pages.get(file).place
  const text = withLinks(read(file), ({ target, image, html }) => {
    const to = resolveLink(root, file, target)
    if (!to) return target
    if (to.file === file) return `#${to.anchor}`
    const page = pages.get(to.file)
    if (image) return relative(place, page.place)
    const goal = page.page ?? page.place
    const anchor = to.anchor && ['markdown', 'source'].includes(page.kind) ? `#${to.anchor}` : ''
    const url = relative(place, html ? asUrl(goal) : goal) + anchor
    const sentence = to.file === GLOSSARY && !html && sentences.get(to.anchor)
    return sentence ? `${url} "${sentence.replace(/"/g, '&quot;')}"` : url
  })
  return withExplorables(file, withoutComments(withCaptions(file, text, pages, program)))
}

/** Puts `lines` below the page's title. */
function belowTitle(markdown, lines) {
  return markdown.replace(/^# .*$/m, (title) => [title, '', ...lines].join('\n'))
}

/** Each section of level 2 becomes a fold, its heading what a reader opens it by. */
function folded(markdown) {
  const starts = headings(markdown).filter((h) => h.level === 2).map((h) => h.at)
  if (starts.length === 0) return markdown
  const sections = starts.map((start, i) => {
    const section = markdown.slice(start, starts[i + 1])
    const end = section.indexOf('\n')
    return `<details class="section"><summary>\n\n${section.slice(0, end)}\n\n</summary>\n${section.slice(end).trimEnd()}\n\n</details>\n\n`
  })
  return markdown.slice(0, starts[0]) + sections.join('')
}

const tick = (label, exercise = '') => `\n<TickDone label="${label}"${exercise && ` exercise="${exercise}"`} />\n\n`

/** Labs with a box to tick below each exercise, a section with a number: { text, exercises }. */
function withTicks(markdown) {
  const starts = [...headings(markdown).filter((h) => h.level === 2).map((h) => h.at), markdown.length]
  let exercises = 0
  const sections = starts.slice(0, -1).map((start, i) => {
    const section = markdown.slice(start, starts[i + 1])
    return /^## \d+\. /.test(section) ? section.trimEnd() + '\n' + tick('I have solved it', ++exercises) : section
  })
  return { text: markdown.slice(0, starts[0]) + sections.join(''), exercises }
}

const frontmatter = (settings) => `---\n${Object.entries(settings).map(([k, v]) => `${k}: ${JSON.stringify(v)}`).join('\n')}\n---\n\n`

/**
 * The ladder of the sum, a bar for each row of the front page's table, as long as its number: each leads to its chapter.
 * The numbers themselves stay in the table, behind the front page's question.
 */
function ladder(chapters, url) {
  const table = /^\| chapter \| what changed \| (GB\/s.*?) \|\n\|[-:|]+\|\n((?:\|.*\n)+)/m.exec(withoutComments(read('README.md')))
  if (!table) return ''
  const rows = [...table[2].matchAll(/^\| (\d\d) \| (.*?) \| ([\d.,]+) \|$/gm)].flatMap(([, number, what, rate]) => {
    const chapter = chapters.find((c) => c.number === number)
    return chapter ? [{ number, what: what.split(';')[0], rate: Number(rate.replace(',', '')), to: url('README.md', chapter.notes) }] : []
  })
  const most = Math.max(...rows.map(({ rate }) => rate))
  const bars = rows.map(({ number, what, rate, to }) => {
    const width = `${((100 * rate) / most).toFixed(2)}%`
    return `<li><a href="${to}"><span>${number} · ${escapeHtml(what)}</span><span class="bar"><span style="width: ${width}"></span></span></a></li>`
  })
  const title = `One sum, step by step: ${table[1]}, on a linear axis. The numbers stand below, behind a guess.`
  return `<p class="ladder-title">${title}</p>\n\n<ol class="ladder">\n${bars.join('\n')}\n</ol>\n\n`
}

function writeChapters(chapters, pages, decks) {
  // The order of the course: each chapter's notes, then its labs.
  const way = [{ file: 'README.md', text: 'Overview' }]
  for (const c of chapters) {
    way.push({ file: c.notes, text: c.title })
    if (c.labs) way.push({ file: c.labs, text: `Labs of ${c.number}` })
  }
  const neighbour = (file, step) => {
    const to = way[way.findIndex((w) => w.file === file) + step]
    return to ? { text: to.text, link: `/${asUrl(pages.get(to.file).place)}` } : false
  }
  const step = (file) => ({ prev: neighbour(file, -1), next: neighbour(file, 1) })
  const url = (from, to) => relative(pages.get(from).place, asUrl(pages.get(to).place))

  for (const c of chapters) {
    const deck = decks.find((d) => d.name === c.name)
    const deckUrl = (from) => link('Slides', relative(pages.get(from).place, deck.url))
    const facts = [`About ${minutesToRead(read(c.notes))} minutes to read`]
    if (c.labNotes) facts.push(link('Lab notes', url(c.notes, c.labNotes)))
    if (c.program) facts.push(link('Program', url(c.notes, c.program)))
    if (c.labs) facts.push(link('Labs', url(c.notes, c.labs)))
    if (deck) facts.push(deckUrl(c.notes))
    const bar = `<p class="facts">${facts.join(' · ')}</p>`
    const notes = belowTitle(rewritten(c.notes, pages, c.program), [bar])
    files.set(pages.get(c.notes).place, frontmatter(step(c.notes)) + (c.labNotes ? withGuesses(notes, c.name) : notes) + tick('I have read this chapter'))
    if (c.labNotes) {
      const back = `<p class="facts">${link(`Lesson of chapter ${c.number}`, url(c.labNotes, c.notes))}</p>`
      const page = folded(belowTitle(rewritten(c.labNotes, pages, c.program), [back]))
      files.set(pages.get(c.labNotes).place, frontmatter({ prev: false, next: false }) + page)
    }
    if (!c.labs) continue
    const minutes = minutesOfLab(read(c.labs))
    const labFacts = [link('Notes', url(c.labs, c.notes))]
    if (minutes > 0) labFacts.unshift(`About ${minutes} minutes together`)
    if (deck) labFacts.push(deckUrl(c.labs))
    const labBar = `<p class="facts">${labFacts.join(' · ')}</p>`
    const { text, exercises } = withTicks(belowTitle(rewritten(c.labs, pages), [labBar]))
    files.set(pages.get(c.labs).place, frontmatter(step(c.labs)) + text)
    exercisesOf[`${base}${asUrl(pages.get(c.labs).place)}`] = exercises
  }

  // The front page: where to start stands at the top.
  const first = chapters[0]
  const actions = []
  if (first) actions.push(`<a class="action first" href="${url('README.md', first.notes)}">Start with chapter ${first.number}</a>`)
  const second = chapters.find((c) => c.labs)
  if (second) actions.push(`<a class="action" href="${url('README.md', second.labs)}">Go to the first lab</a>`)
  if (pages.has('chapters/README.md')) actions.push(`<a class="action" href="${url('README.md', 'chapters/README.md')}">Teach with it</a>`)
  const home = rewritten('README.md', pages)
  const opening = /^# .*\n+(?:(?!#|`|<|\||!).+\n)+/m.exec(home)
  const at = opening ? opening.index + opening[0].length : 0
  const bar = (actions.length > 0 ? `\n<p class="actions">${actions.join(' ')}</p>\n\n` : '') + ladder(chapters, url)
  files.set('index.md', frontmatter(step('README.md')) + home.slice(0, at) + bar + home.slice(at))
}

/** The chapter that a file belongs to gets a way back from the file's page. */
function wayBack(file, chapters, pages) {
  const chapter = chapters.find((c) => file.startsWith(`${c.folder}/`))
  if (!chapter) return []
  return [link(`Notes of chapter ${chapter.number}`, relative(pages.get(file).place, asUrl(pages.get(chapter.notes).place)))]
}

function writePages(pages, chapters) {
  for (const [file, { kind, place, page }] of pages) {
    const back = wayBack(file, chapters, pages)
    if (kind === 'image') files.set(place, fs.readFileSync(path.join(root, file)))
    if (page) files.set(page, figurePage(root, file))
    if (kind === 'source') files.set(place, sourcePage(root, file, back))
    if (kind === 'folder') files.set(place, folderPage(root, file, pages))
    if (kind === 'table') {
      files.set(place, tablePage(root, file, back))
      files.set(`public/${place.replace(/\.md$/, '')}`, fs.readFileSync(path.join(root, file)))
    }
    if (kind === 'markdown' && !files.has(place)) {
      files.set(place, frontmatter({ prev: false, next: false }) + rewritten(file, pages))
    }
  }
}

/** The list at the left of every page. */
function sidebar(chapters, pages, decks) {
  const to = (file) => `/${asUrl(pages.get(file).place)}`
  const groups = [{ text: 'Start here', items: [{ text: 'Overview', link: '/' }] }]
  if (decks.opening) groups[0].items.push({ text: 'Opening slides', link: `/${decks.opening.url}`, target: '_self' })
  if (pages.has(GLOSSARY)) groups[0].items.push({ text: 'Glossary', link: to(GLOSSARY) })
  groups.push({
    text: 'Chapters',
    items: chapters.map((c) => {
      const items = []
      if (c.labs) items.push({ text: 'Labs', link: to(c.labs) })
      if (c.labNotes) items.push({ text: 'Lab notes', link: to(c.labNotes) })
      const deck = decks.find((d) => d.name === c.name)
      if (deck) items.push({ text: 'Slides', link: `/${deck.url}`, target: '_self' })
      if (c.program) items.push({ text: 'Program', link: to(c.program) })
      return { text: c.title, link: to(c.notes), collapsed: true, items }
    }),
  })
  const projects = 'chapters/your_own_kernel/README.md'
  if (pages.has(projects)) groups[1].items.push({ text: 'Your own kernel', link: to(projects) })
  const more = []
  if (pages.has('chapters/README.md')) more.push({ text: 'Teaching', link: to('chapters/README.md') })
  if (pages.has('.github/CONTRIBUTING.md')) more.push({ text: 'Contributing', link: to('.github/CONTRIBUTING.md') })
  if (more.length > 0) groups.push({ text: 'For teachers and authors', items: more })
  return groups
}

/** The links at the top right of every page. */
function nav(pages, decks) {
  const items = [{ text: 'Start', link: '/' }]
  if (decks.length > 0) items.push({ text: 'Slides', link: '/slides/' })
  if (pages.has(GLOSSARY)) items.push({ text: 'Glossary', link: `/${asUrl(pages.get(GLOSSARY).place)}` })
  if (pages.has('chapters/README.md')) items.push({ text: 'Teaching', link: '/chapters/' })
  return items
}

function filesBelow(folder) {
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(at) : [at]
  })
}

/** Writes what changed, removes what is no longer there. */
function save() {
  for (const file of filesBelow(out)) {
    if (!files.has(path.relative(out, file).split(path.sep).join('/'))) fs.rmSync(file)
  }
  for (const [name, content] of files) {
    const file = path.join(out, name)
    const bytes = Buffer.from(content)
    if (fs.existsSync(file) && fs.readFileSync(file).equals(bytes)) continue
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(`${file}.partial`, bytes)
    fs.renameSync(`${file}.partial`, file)
  }
}

function main() {
  const chapters = findChapters(root)
  const pages = findPages(root, chapters)
  const decks = findDecks(root, files)
  writeChapters(chapters, pages, decks)
  writePages(pages, chapters)
  for (const file of filesBelow(path.join(tools, 'public'))) {
    files.set(`public/${path.basename(file)}`, fs.readFileSync(file))
  }
  const home = read('README.md')
  const title = headings(home)[0]?.text ?? 'Tutorial'
  const first = withoutComments(home).split(/^# .*$/m)[1]?.trim().split(/\n\s*\n/)[0] ?? ''
  const description = first.replace(/[*`]/g, '').replace(/\s+/g, ' ')
  files.set('site.json', `${JSON.stringify({ title, description, base, exercises: exercisesOf, nav: nav(pages, decks), sidebar: sidebar(chapters, pages, decks) }, null, 2)}\n`)
  save()
  const hash = crypto.createHash('sha256')
  for (const name of [...files.keys()].sort()) hash.update(`${name}\0`).update(files.get(name)).update('\0')
  for (const file of filesBelow(tools).sort()) {
    hash.update(`${path.relative(tools, file)}\0`).update(fs.readFileSync(file)).update('\0')
  }
  const markdown = [...files.keys()].filter((f) => f.endsWith('.md')).length
  const counts = [`${markdown} pages`, `${chapters.filter((c) => c.labs).length} labs`, `${decks.length} decks`]
  console.log(`${hash.digest('hex')} ${base} ${counts.join(', ')}`)
}

try {
  main()
} catch (error) {
  if (!(error instanceof SourceErrors)) throw error
  console.error(error.lines.join('\n'))
  process.exitCode = 1
}
