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
import { readFileSync } from 'node:fs'
import { guessIn, headings, links, sections, withoutComments } from '../site/markdown.mjs'
import { field, numbered, openMarkdown, writePages } from './paper.mjs'
import { asWritten, examQuestions, QUESTIONS } from '../site/questions.mjs'

const [packages, folder, ...chapters] = process.argv.slice(2)
const { html, inline } = openMarkdown(packages)

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
  return `<figure><img src="data:image/svg+xml;base64,${data}" alt=""><figcaption>${inline(image.alt)}.</figcaption></figure>`
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

/** The pages of a chapter: { name: [title, body] }. */
function pagesOf(chapter, exam) {
  const source = readFileSync(`chapters/${chapter}/README.md`, 'utf8')
  const lesson = withoutComments(source)
  const title = headings(lesson)[0].text
  const rungs = rungsOf(lesson)
  const kept = sections(lesson).find((s) => ['What to keep', 'What limits each version'].includes(s.title))
  const limits = kept?.text.replace(/^.*\n/, '') ?? ''
  const pages = {}
  const page = (name, what, body) => (pages[`${chapter.slice(0, 2)}_${name}`] = { title: `${title}: ${what}`, body, onOnePage: name === 'summary' })
  const signed = `<p>${field('Name', 'wide')}${field('Date', 'narrow')}</p>`
  const opening = lesson.slice(0, sections(lesson)[0].at).replace(/^# .*\n/m, '').trim()
  const about = html(firstParagraph(opening || sections(lesson)[0].text.replace(/^.*\n/, '')))
  if (rungs.length > 0) {
    const asked = rungs.map((r) => [
      `<section><h2>${inline(r.title)}</h2>`,
      html(r.change),
      `<div class="guess">${html(withBlanks(`**Guess.** ${r.question}`, source))}`,
      `<p>${field('My guess', 'wide')}${field('Measured', 'wide')}${field('Factor', 'narrow')}</p></div></section>`,
    ].join('\n'))
    const how = '<p>Write down each guess before the number is shown. How many times apart are the two, and why?</p>'
    page('predictions', 'predictions', [signed, about, how, ...asked].join('\n'))
    // A number at the beginning, "257.", would begin a list.
    const brought = rungs.map((r) => {
      const then = r.now && `\n\n*Then the limit is:* ${firstParagraph(r.now)}`
      return `<section><h2>${inline(r.title)}</h2>\n${html(`*${r.question}*`)}${html(r.number.replace(/^(\d+)\./, '$1\\.') + then)}</section>`
    })
    page('summary', 'summary', `<div class="top"><div>${about}</div>${lastFigure(lesson, chapter)}</div>\n<h2>${kept?.title ?? ''}</h2>\n${html(limits)}\n<h2>Asked and found</h2>\n<div class="rungs">${brought.join('\n')}</div>`)
  }
  const room = '<div class="room"></div>'
  page('questions', 'questions', signed + numbered(exam.map((e) => html(e.question) + room)))
  const measured = rungs.map((r) => `<section><h2>${inline(r.title)}</h2>\n${html(`**Guess.** ${r.question}\n\n${r.answer}`)}</section>`)
  const answers = numbered(exam.map((e) => `${html(e.question)}<div class="answer">${html(e.answer)}</div>`))
  const both = rungs.length > 0 ? [`<h1 class="part">Predictions</h1>`, ...measured, '<h1 class="part">Questions</h1>'] : []
  page('key', 'key, for the teacher', [...both, answers].join('\n'))
  return pages
}

const problems = []
const exams = examQuestions()
const pages = {}
for (const chapter of chapters) {
  const exam = (exams.get(chapter.slice(0, 2)) ?? []).map(asWritten)
  if (exam.length !== 5 || exam.some((e) => !e.answer)) {
    problems.push(`${QUESTIONS}: chapter ${chapter.slice(0, 2)} has ${exam.length} questions, ${exam.filter((e) => e.answer).length} of them with an answer: a handout has five`)
    continue
  }
  Object.assign(pages, pagesOf(chapter, exam))
}
for (const [name, count] of Object.entries(await writePages(packages, folder, pages))) {
  if (name.endsWith('_summary') && count !== 1) problems.push(`${name}.pdf: ${count} pages: a summary has one`)
}
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}
