// SPDX-License-Identifier: MIT
// The quiz at a chapter's end: exam questions, answered as chapters/quiz.md says, explained by the exam's answers.

import fs from 'node:fs'
import path from 'node:path'
import { asWritten, examQuestions, QUESTIONS } from './questions.mjs'
import { asAttribute, questionForm, sections, withoutComments } from './markdown.mjs'

const QUIZ = 'chapters/quiz.md'
const [FEWEST, MOST] = [3, 5]

const textOf = (root, file) => (fs.existsSync(path.join(root, file)) ? fs.readFileSync(path.join(root, file), 'utf8') : '')

/** What the quiz asks of a chapter, by its number: the text of that section, without comments. */
function quizSection(root, number) {
  const found = sections(withoutComments(textOf(root, QUIZ))).find(({ title }) => title.startsWith(`${number} `))
  return found ? found.text.slice(found.text.indexOf('\n')) : ''
}

/** The quiz of a chapter as Markdown, '' for none; `complain(what)` hears of a question whose answer cannot be told. */
export function quizOf(root, { number, name }, complain) {
  const parts = quizSection(root, number).split(/^(\d):$/m).slice(1)
  if (parts.length === 0) return ''
  const exam = (examQuestions(textOf(root, QUESTIONS)).get(number) ?? []).map(asWritten)
  const questions = []
  for (let i = 0; i < parts.length; i += 2) {
    const [place, form] = [Number(parts[i]), parts[i + 1]]
    const asked = exam[place - 1]
    const found = asked ? questionForm(form, asked.answer) : 'no such question of the exam'
    if (typeof found === 'string') complain(`question ${place} of chapter ${number}: ${found}`)
    else {
      const open = `<QuizQuestion name="${name}#quiz-${place}" asked="${asAttribute(found)}">`
      questions.push(`**${questions.length + 1}.** ${asked.question}\n\n${open}\n\n${asked.answer}\n\n</QuizQuestion>\n\n`)
    }
  }
  if (questions.length < FEWEST || questions.length > MOST) complain(`chapter ${number} has ${questions.length} questions, and needs ${FEWEST} to ${MOST}`)
  const about = 'Your answers stay in this browser. On paper there are the questions, and what explains those that you have answered.'
  return `\n## Quiz\n\n${about}\n\n${questions.join('')}`
}

/** The choices of each question of all quizzes, the shortest first. */
function choicesByLength(root) {
  const forms = withoutComments(textOf(root, QUIZ)).split(/^\d:$/m)
  const choices = forms.map((form) => [...form.matchAll(/^([=-]) (.+?)(?: \|.*)?$/gm)])
  const told = (match) => ({ right: match[1] === '=', length: match[2].replaceAll('`', '').length })
  return choices.filter((of) => of.length > 1).map((of) => of.map(told).sort((a, b) => a.length - b.length))
}

/**
 * What to say if length gives away which choice is right; '' if it does not. Of three choices the longest is right in a third
 * of the questions, and so is the shortest. A standard deviation more, about half the root of their number, is still chance.
 */
export function toldByLength(root) {
  const questions = choicesByLength(root)
  const most = Math.floor(questions.length / 3 + Math.sqrt(questions.length) / 2)
  for (const [what, at, next] of [['longest', -1, -2], ['shortest', 0, 1]]) {
    const count = questions.filter((of) => of.at(at).right && of.at(at).length !== of.at(next).length).length
    if (count > most) return `the right choice is the ${what} in ${count} of ${questions.length} questions, and length says nothing with ${most}`
  }
  return ''
}
