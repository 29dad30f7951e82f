// SPDX-License-Identifier: MIT
// What a deck's last slide and each handout say of themselves, since they are handed on alone: authors, title, version,
// where it comes from, and licences. README.md and LICENSE know.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { escapeHtml } from '../site/markdown.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The page of the repository that this is a clone of, if it has one: without a name or a password that its address holds. */
export function pageOf(address) {
  const [, host, path] = /^(?:(?:https?|ssh|git):\/\/(?:[^@/]*@)?|[\w.-]+@)([\w.-]+)(?::\d+(?=\/))?[:/]+(.+?)(?:\.git)?\/?$/.exec(address.trim()) ?? []
  return host ? `https://${host}/${path}` : ''
}

function found(file, pattern) {
  const [, ...parts] = pattern.exec(readFileSync(`${root}/${file}`, 'utf8').replace(/\s+/g, ' ')) ?? []
  if (parts.length === 0) throw new Error(`${file}: no longer says ${pattern}, which decks and handouts need`)
  return parts
}

/** A paragraph of HTML; on paper addresses are written out. */
export function origin({ onPaper = false } = {}) {
  const [title, version] = found('README.md', /To cite it: .*?, \*(.*?)(?::.*?)?\*, version ([\d.]+),/)
  const [licence, address] = found('LICENSE', /International licence \((CC BY [\d.]+)\): (\S+?)\/legalcode/)
  const [authors] = found('LICENSE', /Attribution: "(.*?)"/)
  const page = pageOf(spawnSync('git', ['-C', root, 'config', '--get', 'remote.origin.url'], { encoding: 'utf8' }).stdout ?? '')
  const link = (to, words) => (onPaper ? [...new Set([words, to])].map(escapeHtml).join(', ') : `<a href="${escapeHtml(to)}">${escapeHtml(words)}</a>`)
  const work = `${escapeHtml(authors)}, <cite>${escapeHtml(title)}</cite>, ${escapeHtml(version)}${page && `, ${link(page, page)}`}`
  return `<p class="origin">${work}. Text and figures: ${link(`${address}/`, licence)}. Code: MIT License.</p>\n`
}
