// SPDX-License-Identifier: MIT
// Finds what becomes a page of the site: the notes, the labs, every file or folder that they link to, and the programs of
// which they show lines. common/tools/notes/notes.py has put these there, below comments like <!-- code: NAME file="..." -->.

import fs from 'node:fs'
import path from 'node:path'
import { solutionsOf } from './labs.mjs'
import { headings, links } from './markdown.mjs'

const IMAGES = /\.(svg|png|jpe?g|gif|webp)$/
const LISTING = /<!--\s*code:\s*([\s\S]*?)\s*-->\n(`{3,})[^\n]*\n([\s\S]*?)\n\2$/gm

/** The chapters: { name, number, folder, notes, labNotes, program, labs, title }. */
export function findChapters(root) {
  const there = (file) => (fs.existsSync(path.join(root, file)) ? file : null)
  const names = there('chapters') ? fs.readdirSync(path.join(root, 'chapters')) : []
  return names
    .filter((name) => /^\d\d_/.test(name))
    .sort()
    .map((name) => {
      const folder = `chapters/${name}`
      return {
        name,
        number: name.slice(0, 2),
        folder,
        notes: there(`${folder}/README.md`),
        labNotes: there(`${folder}/lab_notes.md`),
        program: there(`${folder}/${name.slice(3)}.cu`),
        labs: there(`${folder}/exercises/README.md`),
      }
    })
    .filter((c) => c.notes)
    .map((c) => ({ ...c, title: headings(fs.readFileSync(path.join(root, c.notes), 'utf8'))[0]?.text ?? c.name }))
}

/** The kind of page that a path of the repository becomes. */
function kindOf(root, file) {
  if (fs.statSync(path.join(root, file)).isDirectory()) return 'folder'
  if (file.endsWith('.md')) return 'markdown'
  if (IMAGES.test(file)) return 'image'
  return file.endsWith('.csv') ? 'table' : 'source'
}

/** Where a path of the repository stands below build/site-src. */
function placeOf(file, kind) {
  if (file === '.github/CONTRIBUTING.md') return 'contributing.md'
  const visible = file.replace(/(^|\/)\.(?=[^./])/g, '$1')
  if (kind === 'folder') return path.posix.join(visible, 'index.md')
  if (kind === 'markdown') return visible.replace(/(^|\/)README\.md$/, '$1index.md')
  return kind === 'image' ? visible : `${visible}.md`
}

/** Where a link leads: null outside of the repository, else { file, anchor }; file '' is a dead end. */
export function resolveLink(root, from, target) {
  if (/^([a-z][a-z+.-]*:|\/\/)/i.test(target)) return null
  const [name, anchor = ''] = decodeURIComponent(target).split('#')
  if (!name) return { file: from, anchor }
  const file = path.posix.join(path.posix.dirname(from), name).replace(/\/$/, '')
  if (file.startsWith('..') || !fs.existsSync(path.join(root, file))) return { file: '', anchor }
  const notes = path.posix.join(file, 'README.md')
  if (kindOf(root, file) === 'folder' && fs.existsSync(path.join(root, notes))) return { file: notes, anchor }
  return { file, anchor }
}

/** The listings of a text, in order: { at, source, first, last }, where `at` is the position of the comment. */
export function listings(root, file, markdown, program) {
  return [...markdown.matchAll(LISTING)].flatMap(({ 1: head, 3: code, index: at }) => {
    const given = /\bfile="([^"]+)"/.exec(head)?.[1]
    const source = given ? path.posix.join(path.posix.dirname(file), given) : program
    if (!source || !fs.existsSync(path.join(root, source))) return []
    // The lines may be indented in another way.
    const [all, shown] = [fs.readFileSync(path.join(root, source), 'utf8'), code].map((text) => text.split('\n').map((line) => line.trim()))
    const before = all.findIndex((_, at) => shown.every((line, i) => all[at + i] === line))
    return before < 0 ? [] : [{ at, source, first: before + 1, last: before + shown.length }]
  })
}

/**
 * { pages, problems }. All pages and images are a Map from the repository's path to { kind, place }; an image that is linked
 * to rather than shown has a page as well, `page`. What is wrong with the sources is a line each.
 */
export function findPages(root, chapters) {
  const pages = new Map()
  const problems = []
  const queue = []
  const add = (file) => {
    if (pages.has(file)) return
    const kind = kindOf(root, file)
    pages.set(file, { kind, place: placeOf(file, kind) })
    queue.push(file)
  }
  for (const file of ['README.md', '.github/CONTRIBUTING.md', 'chapters/README.md', 'chapters/GLOSSARY.md', 'chapters/your_own_kernel/README.md']) {
    if (fs.existsSync(path.join(root, file))) add(file)
  }
  for (const chapter of chapters) {
    for (const file of [chapter.notes, chapter.labNotes, chapter.program, chapter.labs]) if (file) add(file)
    if (chapter.labs) for (const file of solutionsOf(root, chapter.labs)) add(file)
  }
  const programs = new Map(chapters.flatMap((c) => [[c.notes, c.program], [c.labNotes, c.program]]))
  while (queue.length > 0) {
    const file = queue.shift()
    const { kind } = pages.get(file)
    if (kind === 'folder') {
      for (const entry of entriesOf(root, file)) if (!entry.folder) add(entry.file)
    }
    if (kind !== 'markdown') continue
    const text = fs.readFileSync(path.join(root, file), 'utf8')
    for (const { source } of listings(root, file, text, programs.get(file))) add(source)
    for (const { target, line, image } of links(text)) {
      const to = resolveLink(root, file, target)
      if (!to) continue
      if (!to.file) {
        problems.push(`${file}:${line}: dead link ${target}`)
        continue
      }
      add(to.file)
      const page = pages.get(to.file)
      if (page.kind === 'image' && !image) page.page = `${page.place}.md`
    }
  }
  return { pages, problems }
}

/** The entries of a folder's page: { name, file, folder }, without what is hidden. */
export function entriesOf(root, folder) {
  return fs
    .readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((e) => !e.name.startsWith('.') && e.name !== '__pycache__')
    .map((e) => ({ name: e.name, file: `${folder}/${e.name}`, folder: e.isDirectory() }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
}

/** All files below a folder, which need not be there. */
export function filesBelow(folder) {
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(at) : [at]
  })
}
