// SPDX-License-Identifier: MIT
// What the site shows of an exercise beside its text: the starter, what its check looks at, what the check says of the
// starter, and for teachers the way to solutions. All of it is read from the files of the exercise.

import fs from 'node:fs'
import path from 'node:path'
import { withSections } from './markdown.mjs'

const EXERCISE = /^\[(ex\d+_\w+)\.cu\]/m
const REPORTS = /^\[(\w+)\]\n([\s\S]*?)(?=^\[|(?![\s\S]))/gm // as common/labs/starters.py writes them
const LITERAL = /"((?:[^"\\]|\\.)*)"/g
const HOLE = /(?<![[(])…/ // what is known only when the check runs; that of an index, x[…], may stay
const escaped = (text) => text.replace(/[\\`*_[\]<>{}|]/g, '\\$&')

const textOf = (root, file) => (fs.existsSync(path.join(root, file)) ? fs.readFileSync(path.join(root, file), 'utf8') : '')

const solutionOf = (folder, name) => `${folder}/solutions/${name}.cu`

/** The solutions, to which the page of these labs links. */
export function solutionsOf(root, labs) {
  const names = [...textOf(root, labs).matchAll(new RegExp(EXERCISE, 'gm'))].map((m) => m[1])
  return names.map((name) => solutionOf(path.posix.dirname(labs), name)).filter((file) => fs.existsSync(path.join(root, file)))
}

/** The arguments of the call whose parenthesis opens before the position, each as its text. */
function argumentsAt(code, at) {
  const found = ['']
  let depth = 0
  for (let i = at; i < code.length; i++) {
    const literal = code[i] === '"' && /^"(?:[^"\\]|\\.)*"/.exec(code.slice(i))?.[0]
    if (literal) {
      found[found.length - 1] += literal
      i += literal.length - 1
      continue
    }
    if ('([{'.includes(code[i])) depth++
    if (')]}'.includes(code[i]) && depth-- === 0) break
    if (code[i] === ',' && depth === 0) found.push('')
    else found[found.length - 1] += code[i]
  }
  return found.map((text) => text.trim())
}

/** What an argument says, "…" for what is not known before the check runs; null where it begins by that. */
function saidBy(argument) {
  if (!argument?.startsWith('"')) return null
  const literals = [...argument.matchAll(LITERAL)]
  let said = ''
  let end = 0
  for (const { 0: literal, 1: text, index } of literals) {
    said += (/\S/.test(argument.slice(end, index)) ? '… ' : '') + text.replace(/\\(.)/g, '$1')
    end = index + literal.length
  }
  return (said + (/\S/.test(argument.slice(end)) ? ' …' : '')).replace(/\s+/g, ' ').replace(/(?<=[[(]) ?… ?/g, '…').replace(/… (?=[,:])/g, '…')
}

/** The name of what is looked at, without holes: "load requests of …, at once" are load requests. Null where that leaves half a sentence. */
function named(said) {
  const [first, ...more] = said.replace(/(?<! (?:of|for)) …$/, '').split(', ')
  const name = [first, ...more.filter((clause) => !HOLE.test(clause))].join(', ').replace(/ (?:(?:of|for) )?…(?= of …| to | for |,|$)/g, '')
  return HOLE.test(name) ? null : name
}

/** What it has to be: the clauses that are known before, "" where none is. */
const known = (said) => said.split(': ').filter((clause) => !HOLE.test(clause)).join(': ')

/** What a check looks at: { cases, asks, predictions }; `asks` are pairs of what is looked at, null where only the check can say it, and what it has to be. */
export function looksAt(check) {
  const code = check.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*/g, '$1')
  const calls = (names) => [...code.matchAll(new RegExp(`\\b(?:${names})\\(`, 'g'))].map((m) => argumentsAt(code, m.index + m[0].length))
  const asks = new Map()
  for (const m of code.matchAll(/\blab::(exactly|at_most|between|expect)\(/g)) {
    const given = argumentsAt(code, m.index + m[0].length)
    const [name, wanted] = m[1] === 'expect' ? [given[1], given[2]] : [given[0], given.at(-1)]
    const [said, be] = [saidBy(name), known(saidBy(wanted) ?? '')]
    const what = said && named(said)
    if (said && be && !asks.has(what ?? be)) asks.set(what ?? be, [what, be])
  }
  return {
    cases: calls('TEST_CASE').map(([name]) => saidBy(name)),
    asks: [...asks.values()],
    predictions: code.includes('lab::predict(') ? [...new Set([...code.matchAll(/"(k[A-Z]\w*)"/g)].map(([, name]) => name))] : [],
  }
}

/** The same as a list in Markdown. */
function listOf({ cases, asks, predictions }) {
  const numbers = predictions.length > 0 ? [`your ${predictions.length === 1 ? 'prediction' : `${predictions.length} predictions`}: ${predictions.map((name) => `\`${name}\``).join(', ')}`] : []
  const items = [...cases.map((text) => `**${escaped(text)}**`), ...numbers, ...asks.map(([what, be]) => (what ? `${escaped(what)}: ${escaped(be)}` : escaped(be)))]
  return items.map((item) => `- ${item}\n`).join('')
}

/** The lines of a starter that a learner may change, as a fence takes them, "12-19,23". */
export function linesToChange(starter) {
  const lines = starter.split('\n')
  const ranges = []
  for (let i = 0; i < lines.length; i++) {
    if (/^\s*\/\/ TODO\b/.test(lines[i])) {
      const end = lines.findIndex((line, at) => at > i && /^\s*\/\/ end of TODO\s*$/.test(line))
      ranges.push(end < 0 ? `${i + 1}` : `${i + 1}-${end + 1}`)
      i = Math.max(i, end)
    } else if (/\S.*\/\/ TODO\b/.test(lines[i])) ranges.push(`${i + 1}`)
  }
  return ranges.join(',')
}

/**
 * The labs' text with all that below the words of each exercise, before its hints. `link(file, text)` is a link to a file's page.
 */
export function withCode(root, labs, markdown, link) {
  const folder = path.posix.dirname(labs)
  const reports = new Map([...textOf(root, `${folder}/starters.txt`).matchAll(REPORTS)].map(([, name, text]) => [name, text.trim()]))
  return withSections(markdown, ({ text }) => {
    const name = EXERCISE.exec(text)?.[1]
    const starter = name && textOf(root, `${folder}/${name}.cu`).trimEnd()
    if (!starter) return text
    const number = /^ex(\d+)_/.exec(name)[1]
    const command = `make lab CH=${path.posix.basename(path.posix.dirname(folder)).slice(0, 2)} EX=${number}`
    const [check, solution] = [textOf(root, `${folder}/${name}.check.cu`), solutionOf(folder, name)]
    const parts = []
    if (check) parts.push(`<div class="looks-at">\n\n**What the check looks at**\n\n${listOf(looksAt(check))}\n</div>`)
    const lines = linesToChange(starter)
    const about = `The starter, ${link(`${folder}/${name}.cu`, `${name}.cu`)}: your work goes where the lines are marked.`
    parts.push(`<div class="starter">\n\n<p class="listing">${about}</p>\n\n\`\`\`cuda:line-numbers {${lines}}\n${starter}\n\`\`\`\n\n</div>`)
    if (reports.has(name)) {
      parts.push(`<details class="report"><summary>What the check says of the starter</summary>\n\n\`${command}\`\n\n\`\`\`text\n${reports.get(name)}\n\`\`\`\n\n</details>`)
    }
    const hints = text.indexOf('<details><summary>Hint')
    const at = hints < 0 ? text.length : hints
    const isSolved = fs.existsSync(path.join(root, solution))
    const teachers = isSolved ? `\n<p class="for-teachers">For teachers: ${link(solution, 'the solution')}</p>\n\n` : ''
    // The search leaves out what stands between these comments (config.mjs).
    return `${text.slice(0, at).trimEnd()}\n\n<!-- beside -->\n\n${parts.join('\n\n')}\n\n<!-- /beside -->\n\n${text.slice(at).trimEnd()}\n${teachers}`
  })
}
