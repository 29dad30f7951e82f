// SPDX-License-Identifier: MIT
// Pages for a class to print, of each chapter that is named. The lesson's own questions, and what was measured, come from
// its README.md, the exam questions from chapters/exam_questions.md:
//
//   NN_predictions  for everybody, before: each guess that the lesson asks for, with room for it
//   NN_summary      for everybody, after: one page that stands alone: the chapter's question, its last figure, what to keep,
//                   what was asked and what was found
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

/** What a lesson asks: { title, code, question, answer }. */
function guessesOf(lesson) {
  return sections(lesson).flatMap(({ title, text }) => {
    const guess = guessIn(text)
    return guess ? [{ title, code: lastCode(guess.before), question: guess.question, answer: guess.answer }] : []
  })
}

/** The text without the numbers that answer another question: the class fills them in. */
function withBlanks(text, lesson) {
  const numbers = guessesOf(lesson).flatMap(({ answer }) => [...answer.matchAll(/(\d[\d,.]*)<!--=/g)].map((m) => m[1]))
  const answers = new Set(numbers.filter((n) => n.replace(/\D/g, '').replace(/^0+/, '').length > 2))
  return text.replace(/\d[\d,]*(?:\.\d+)?/g, (number) => (answers.has(number) ? '\\_\\_\\_\\_' : number))
}

/** The pages of a chapter: { name: [title, body] }. */
function pagesOf(chapter, exam) {
  const source = readFileSync(`chapters/${chapter}/README.md`, 'utf8')
  const lesson = withoutComments(source)
  const title = headings(lesson)[0].text
  const guesses = guessesOf(lesson)
  const kept = sections(lesson).find((s) => s.title === 'What to keep')?.text.replace(/^.*\n/, '') ?? ''
  const pages = {}
  const page = (name, what, body) => (pages[`${chapter.slice(0, 2)}_${name}`] = { title: `${title}: ${what}`, body, onOnePage: name === 'summary' })
  const signed = `<p>${field('Name', 'wide')}${field('Date', 'narrow')}</p>`
  const opening = lesson.slice(0, sections(lesson)[0].at).replace(/^# .*\n/m, '').trim()
  const about = html(firstParagraph(opening || sections(lesson)[0].text.replace(/^.*\n/, '')))
  const asked = guesses.map((g) => [
    `<section><h2>${inline(g.title)}</h2>`,
    html(g.code),
    `<div class="guess">${html(withBlanks(`**Guess.** ${g.question}`, source))}`,
    `<p>${field('My guess', 'wide')}${field('Measured', 'wide')}${field('Factor', 'narrow')}</p></div></section>`,
  ].join('\n'))
  const how = '<p>Write down each guess before the number is shown. How many times apart are the two, and why?</p>'
  page('predictions', 'predictions', [signed, about, how, ...asked].join('\n'))
  const found = guesses.map((g) => {
    // A number at the beginning, "257.", would begin a list.
    const answer = firstSentences(g.answer).replace(/^(\d+)\./, '$1\\.')
    return `<section><h2>${inline(g.title)}</h2>\n${html(`*${g.question}*`)}${html(answer)}</section>`
  })
  page('summary', 'summary', `<div class="top"><div>${about}</div>${lastFigure(lesson, chapter)}</div>\n<h2>What to keep</h2>\n${html(kept)}\n<h2>Asked and found</h2>\n<div class="found">${found.join('\n')}</div>`)
  const room = '<div class="room"></div>'
  page('questions', 'questions', signed + numbered(exam.map((e) => html(e.question) + room)))
  const measured = guesses.map((g) => `<section><h2>${inline(g.title)}</h2>\n${html(`**Guess.** ${g.question}\n\n${g.answer}`)}</section>`)
  const answers = numbered(exam.map((e) => `${html(e.question)}<div class="answer">${html(e.answer)}</div>`))
  page('key', 'key, for the teacher', ['<h1 class="part">Predictions</h1>', ...measured, '<h1 class="part">Questions</h1>', answers].join('\n'))
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
