// SPDX-License-Identifier: MIT
// Pages for a class to print, of each chapter that is named. The lesson's own questions, and what was measured, come from
// its README.md, the exam questions from chapters/exam_questions.md:
//
//   NN_predictions  for everybody, before: each rung's question, with room for a guess
//   NN_summary      for everybody, after: one page that stands alone: the chapter's question, its last figure, what was asked
//                   and what was found at each rung, what to keep and what limits each version
//   NN_questions    for everybody: five exam questions, with room for answers
//   NN_key          for the teacher: the measured numbers with their reasons, and the answers
//
//   node handout.mjs PACKAGES FOLDER CHAPTER...
//
// Writes HTML and, where CHROME_PATH names Chromium, PDF. What is wrong with the sources is printed, exit status 1.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openChromium } from '../site/browser.mjs'
import { guessIn, headings, links, sections, withoutComments } from '../site/markdown.mjs'
import { origin } from './origin.mjs'
import { cuda } from '../site/cuda_words.mjs'

// How a summary is fitted on its page: the figure's height in mm, and the size of everything.
const FITS = [[70, 1], [50, 1], [60, 0.9], [45, 0.9], [45, 0.82], [38, 0.82], [34, 0.77]]
const QUESTIONS = 'chapters/exam_questions.md'
const [packages, folder, ...chapters] = process.argv.slice(2)
const need = createRequire(resolve(packages, 'package.json'))
const hljs = need('highlight.js')
hljs.registerLanguage('cuda', cuda)
const highlight = (code, language) => (hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : '')
const markdown = need('markdown-it')({ html: true, highlight })
const style = readFileSync(new URL('handout.css', import.meta.url), 'utf8')

// Paper has no links, and its pictures are in the lesson.
const onPaper = (text) => text.replace(/!\[[^\]]*\]\([^)]*\)/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
const html = (text) => markdown.render(onPaper(text))

/** What stands in a section after **LABEL**, up to the next label. */
function labelled(text, label) {
  const from = text.indexOf(`**${label}**`)
  if (from < 0) return ''
  const rest = text.slice(from + label.length + 4)
  return rest.split(/^\*\*(?:The |Why|What |Guess)[^*]*\.\*\*/m)[0].trim()
}

/** Paragraphs, lists, tables and fences, one after the other. */
const blocks = (text) => text.trim().match(/^(```+)[^]*?^\1$|^(?!```)(?:.*\S.*(?:\n|$))+/gm) ?? []
const firstParagraph = (text) => blocks(text)[0]?.trim() ?? ''

/** The beginning of an answer up to the end of a sentence: not a colon, and neither code nor a table alone. */
function firstSentences(text) {
  const all = blocks(text)
  const isSentence = (block) => /^[^`|]/.test(block) && !/:\s*$/.test(block)
  let end = all.findIndex(isSentence)
  if (end > 0 && /:\s*$/.test(all[0])) end = 1 // what the colon announces is enough
  return all.slice(0, (end < 0 ? all.length : end) + 1).map((block) => block.trim()).join('\n\n')
}

/** The last figure of a lesson, with its text alternative below it. */
function lastFigure(lesson, chapter) {
  const image = links(lesson).filter(({ image, target }) => image && /^figures\/.*\.svg$/.test(target)).at(-1)
  if (!image) return ''
  const data = readFileSync(`chapters/${chapter}/${image.target}`, 'base64')
  return `<figure><img src="data:image/svg+xml;base64,${data}" alt=""><figcaption>${markdown.renderInline(image.alt)}.</figcaption></figure>`
}

/** The last code before a question, and the paragraph that leads to it. */
function lastCode(before) {
  const code = before.split(/(?=^```)/m).filter((part) => /^```\w/.test(part)).pop()
  if (!code) return ''
  const leading = before.slice(0, before.lastIndexOf(code)).trim().split(/\n\s*\n/).pop()
  return `${leading}\n\n${code.trim()}\n\`\`\`\n`
}

/** The rungs of a lesson: { title, change, question, answer, number, now }. */
function rungsOf(lesson) {
  return sections(lesson).flatMap(({ title, text }) => {
    const guess = guessIn(text)
    if (!guess) return []
    if (guess.told) {
      const told = guess.rest.slice(0, guess.why)
      return [{ title, change: lastCode(guess.before), question: guess.question, answer: told, number: firstSentences(told), now: '' }]
    }
    const answer = guess.rest.slice(0, guess.number) + guess.rest.slice(guess.number).split('**What limits us now.**')[0]
    const number = labelled(guess.rest, 'The number.')
    return [{ title, change: labelled(guess.before, 'The change.'), question: guess.question, answer, number, now: labelled(guess.rest, 'What limits us now.') }]
  })
}

/** The text without the numbers that answer another rung's question: the class fills them in. */
function withBlanks(text, lesson) {
  const numbers = sections(lesson).flatMap(({ text: section }) => {
    const guess = guessIn(section)
    const said = guess ? guess.rest.slice(guess.number, guess.why) : ''
    return [...said.matchAll(/(\d[\d,.]*)<!--=/g)].map((m) => m[1])
  })
  const answers = new Set(numbers.filter((n) => n.replace(/\D/g, '').replace(/^0+/, '').length > 2))
  return text.replace(/\d[\d,]*(?:\.\d+)?/g, (number) => (answers.has(number) ? '\\_\\_\\_\\_' : number))
}

/** { heading of a chapter: [{ question, answer }] }: numbered paragraphs, each with a quotation. */
function examQuestions() {
  const exams = new Map()
  for (const { title, text } of sections(withoutComments(readFileSync(QUESTIONS, 'utf8')))) {
    const parts = text.split(/^\d\. /m).slice(1).map((part) => part.replace(/^ {3}/gm, ''))
    exams.set(title.slice(0, 2), parts.map((part) => {
      const [question, ...answer] = part.split(/^(?=> )/m)
      return { question: question.trim(), answer: answer.join('').replace(/^> ?/gm, '').trim() }
    }))
  }
  return exams
}

const field = (name, size) => `<span class="field ${size}">${name}</span>`
const numbered = (items) => `<ol class="questions">${items.map((i) => `<li>${i}</li>`).join('\n')}</ol>`

/** The pages of a chapter: { name: [title, body] }. */
function pagesOf(chapter, exam) {
  const source = readFileSync(`chapters/${chapter}/README.md`, 'utf8')
  const lesson = withoutComments(source)
  const title = headings(lesson)[0].text
  const rungs = rungsOf(lesson)
  const kept = sections(lesson).find((s) => ['What to keep', 'What limits each version'].includes(s.title))
  const limits = kept?.text.replace(/^.*\n/, '') ?? ''
  const pages = {}
  const page = (name, what, body) => (pages[`${chapter.slice(0, 2)}_${name}`] = { title: `${title}: ${what}`, body })
  const signed = `<p>${field('Name', 'wide')}${field('Date', 'narrow')}</p>`
  const opening = lesson.slice(0, sections(lesson)[0].at).replace(/^# .*\n/m, '').trim()
  const about = html(firstParagraph(opening || sections(lesson)[0].text.replace(/^.*\n/, '')))
  if (rungs.length > 0) {
    const asked = rungs.map((r) => [
      `<section><h2>${markdown.renderInline(r.title)}</h2>`,
      html(r.change),
      `<div class="guess">${html(withBlanks(`**Guess.** ${r.question}`, source))}`,
      `<p>${field('My guess', 'wide')}${field('Measured', 'wide')}${field('Factor', 'narrow')}</p></div></section>`,
    ].join('\n'))
    const how = '<p>Write down each guess before the number is shown. How many times apart are the two, and why?</p>'
    page('predictions', 'predictions', [signed, about, how, ...asked].join('\n'))
    // A number at the beginning, "257.", would begin a list.
    const brought = rungs.map((r) => {
      const then = r.now && `\n\n*Then the limit is:* ${firstParagraph(r.now)}`
      return `<section><h2>${markdown.renderInline(r.title)}</h2>\n${html(`*${r.question}*`)}${html(r.number.replace(/^(\d+)\./, '$1\\.') + then)}</section>`
    })
    page('summary', 'summary', `<div class="top"><div>${about}</div>${lastFigure(lesson, chapter)}</div>\n<h2>${kept?.title ?? ''}</h2>\n${html(limits)}\n<h2>Asked and found</h2>\n<div class="rungs">${brought.join('\n')}</div>`)
  }
  const room = '<div class="room"></div>'
  page('questions', 'questions', signed + numbered(exam.map((e) => html(e.question) + room)))
  const measured = rungs.map((r) => `<section><h2>${markdown.renderInline(r.title)}</h2>\n${html(`**Guess.** ${r.question}\n\n${r.answer}`)}</section>`)
  const answers = numbered(exam.map((e) => `${html(e.question)}<div class="answer">${html(e.answer)}</div>`))
  const both = rungs.length > 0 ? [`<h1 class="part">Predictions</h1>`, ...measured, '<h1 class="part">Questions</h1>'] : []
  page('key', 'key, for the teacher', [...both, answers].join('\n'))
  return pages
}

const document = ({ title, body }) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${style}</style></head>
<body><h1>${title}</h1>
${body}
${origin({ onPaper: true })}</body></html>
`

async function print(names) {
  const chromium = await openChromium(packages)
  const tab = await chromium.newPage()
  for (const name of names) {
    await tab.goto(pathToFileURL(resolve(folder, `${name}.html`)))
    let pdf
    let pages
    for (const [height, scale] of name.endsWith('_summary') ? FITS : [[0, 1]]) {
      await tab.evaluate((value) => document.body.style.setProperty('--figure', `${value}mm`), height)
      pdf = await tab.pdf({ preferCSSPageSize: true, printBackground: true, scale })
      pages = Buffer.from(pdf).toString('latin1').match(/\/Type \/Page\b/g).length
      if (pages === 1) break
    }
    writeFileSync(join(folder, `${name}.pdf`), pdf)
    if (name.endsWith('_summary') && pages !== 1) problems.push(`${name}.pdf: ${pages} pages: a summary has one`)
  }
  await chromium.close()
}

mkdirSync(folder, { recursive: true })
const problems = []
const exams = examQuestions()
const names = []
for (const chapter of chapters) {
  const exam = exams.get(chapter.slice(0, 2)) ?? []
  if (exam.length !== 5 || exam.some((e) => !e.answer)) {
    problems.push(`${QUESTIONS}: chapter ${chapter.slice(0, 2)} has ${exam.length} questions, ${exam.filter((e) => e.answer).length} of them with an answer: a handout has five`)
    continue
  }
  for (const [name, page] of Object.entries(pagesOf(chapter, exam))) {
    writeFileSync(join(folder, `${name}.html`), document(page))
    names.push(name)
  }
}
if (process.env.CHROME_PATH) await print(names)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}
