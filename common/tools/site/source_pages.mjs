// SPDX-License-Identifier: MIT
// Pages for files that are not Markdown: a program as highlighted code, measurements as a table, a
// folder as a list. None is part of the search, which would only find the notes' own words again.

import fs from 'node:fs'
import path from 'node:path'
import { breakable, breakableCell, escapeHtml } from './markdown.mjs'
import { entriesOf } from './pages.mjs'

const LANGUAGES = {
  '.cu': 'cuda', '.cuh': 'cuda', '.h': 'cuda', '.hpp': 'cuda', '.cpp': 'cuda', '.inc': 'cuda',
  '.py': 'python', '.sh': 'bash', '.mjs': 'js', '.json': 'json', '.css': 'css', '.yml': 'yaml',
}
const FRONT = '---\nsearch: false\naside: false\nprev: false\nnext: false\npageClass: source\n---\n\n'

function languageOf(file) {
  const name = path.posix.basename(file)
  if (/^makefile$/i.test(name)) return 'make'
  return LANGUAGES[path.posix.extname(name)] ?? 'text'
}

function front(file, facts) {
  const name = path.posix.basename(file)
  const line = [`<code>${breakable(escapeHtml(file))}</code>`, ...facts].join(' · ')
  return `${FRONT}# ${name.replace(/([\\`*_[\]<>])/g, '\\$1')}\n\n<p class="facts">${line}</p>\n\n`
}

const plural = (count, noun, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`

/** A program or any other text, with line numbers. */
export function sourcePage(root, file, back) {
  const text = fs.readFileSync(path.join(root, file), 'utf8').replace(/\n$/, '')
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length))
  const fence = '`'.repeat(longest + 1)
  const facts = [plural(text.split('\n').length, 'line'), ...back]
  return `${front(file, facts)}${fence}${languageOf(file)}:line-numbers\n${text}\n${fence}\n`
}

/** The lines of a CSV, each as its fields. */
function linesOf(csv) {
  const fields = (line) => [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)].map(([, text]) => text)
  const bare = (text) => (text.startsWith('"') ? text.slice(1, -1).replace(/""/g, '"') : text)
  return csv.trimEnd().split('\n').map((line) => fields(line).map(bare))
}

/** The rows of a CSV: objects with a text for each column. */
export function rowsOf(csv) {
  const [names, ...rows] = linesOf(csv)
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])))
}

/** Measurements: columns with one value in all rows are shown once, the rest is a table: what tells rows apart best, then numbers. */
export function tablePage(root, file, back) {
  const [names, ...rows] = linesOf(fs.readFileSync(path.join(root, file), 'utf8'))
  const varies = names.map((_, i) => rows.length < 2 || rows.some((row) => row[i] !== rows[0][i]))
  const name = escapeHtml(path.posix.basename(file))
  const facts = [plural(rows.length, 'row'), `<a href="./${encodeURI(name)}" download>Download</a>`, ...back]
  let page = front(file, facts)
  const constant = names.map((n, i) => [n, rows[0]?.[i] ?? '']).filter(([, value], i) => !varies[i] && value !== '')
  if (constant.length > 0) {
    page += 'In every row:\n\n<dl class="context">\n'
    page += constant.map(([n, v]) => `<div><dt>${escapeHtml(n)}</dt><dd>${escapeHtml(v)}</dd></div>\n`).join('')
    page += '</dl>\n\n'
  }
  const varying = names.map((_, i) => i).filter((i) => varies[i])
  const numeric = new Set(varying.filter((i) => rows.every((row) => row[i] === '' || /^-?[\d.]+(e[+-]?\d+)?$/.test(row[i]))))
  const values = (i) => new Set(rows.map((row) => row[i])).size
  const [first = [], ...others] = varying.filter((i) => !numeric.has(i)).sort((a, b) => values(b) - values(a))
  const shown = [first, ...numeric, ...others].flat()
  const cell = (tag, i, text) => `<${tag}${numeric.has(i) ? ' class="number"' : ''}>${breakableCell(escapeHtml(text ?? ''))}</${tag}>`
  page += `<table>\n<thead><tr>${shown.map((i) => cell('th', i, names[i])).join('')}</tr></thead>\n<tbody>\n`
  page += rows.map((row) => `<tr>${shown.map((i) => cell('td', i, row[i])).join('')}</tr>\n`).join('')
  return `${page}</tbody>\n</table>\n`
}

/** The list of what a folder holds. */
export function folderPage(root, folder, pages) {
  const entries = entriesOf(root, folder)
  const items = entries.map((entry) => {
    const page = pages.get(entry.file)
    const name = `\`${entry.name}${entry.folder ? '/' : ''}\``
    return page ? `- [${name}](./${encodeURI(path.posix.basename(page.place))})` : `- ${name}`
  })
  return `${front(folder, [plural(entries.length, 'entry', 'entries')])}${items.join('\n')}\n`
}

/** A figure that is linked to rather than shown. */
export function figurePage(root, file) {
  const text = file.endsWith('.svg') ? fs.readFileSync(path.join(root, file), 'utf8') : ''
  const title = /<title[^>]*>([^<]*)</.exec(text)?.[1] ?? path.posix.basename(file)
  return `${front(file, [])}![${title.replace(/[[\]]/g, '')}](./${path.posix.basename(file)})\n`
}
