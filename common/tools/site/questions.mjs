// SPDX-License-Identifier: MIT
// The exam questions, chapters/exam_questions.md: what is asked, what is the answer, how many points it has, and the
// numbers that an exam draws. Such a number stands before its mark, as a measured one does:
//
//   256<!--draw block: 128 256 512-->        one of these, in an exam another one than here
//   4<!--is ceil(pairs / block)-->           computed from the drawn ones, and written as the number that stands here
//   <!--3 points-->                          of the question, at the end of its first line
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sections, withoutComments } from './markdown.mjs'

export const QUESTIONS = 'chapters/exam_questions.md'
export const MINUTES_OF_A_POINT = 2

const MARK = /(\d[\d,]*(?:\.\d+)?)<!--(draw|is) (.*?)-->/g
const POINTS = / *<!--(\d+) points?-->/
const FUNCTIONS = { ceil: Math.ceil, floor: Math.floor, log2: Math.log2 }
const valueOf = (number) => Number(number.replaceAll(',', ''))

/** { number of a chapter: [{ question, answer, points }] }: numbered paragraphs, each with a quotation, marks and all. */
export function examQuestions(text = readFileSync(QUESTIONS, 'utf8')) {
  const exams = new Map()
  for (const { title, text: section } of sections(text)) {
    const parts = section.split(/^\d\. /m).slice(1).map((part) => part.replace(/^ {3}/gm, ''))
    exams.set(title.slice(0, 2), parts.map((part) => {
      const [question, ...answer] = part.split(/^(?=> )/m)
      const points = Number(POINTS.exec(question)?.[1] ?? 0)
      return { question: question.replace(POINTS, '').trim(), answer: answer.join('').replace(/^> ?/gm, '').trim(), points }
    }))
  }
  return exams
}

/** The question as it stands in the file, for people. */
export const asWritten = ({ question, answer, points }) => ({ question: withoutComments(question), answer: withoutComments(answer), points })

/** A number as another one is written: as many decimals, and commas unless that one does without. */
function writtenLike(value, number) {
  const decimals = number.split('.')[1]?.length ?? 0
  const useGrouping = number.includes(',') || valueOf(number) < 1000
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping })
}

/** The formula's value. It is the repository's own text, as this program is. */
function computed(formula, values) {
  const known = { ...FUNCTIONS, ...values }
  return Function(...Object.keys(known), `return ${formula}`)(...Object.values(known))
}

/** The question with other numbers: choose(list, the one that is written) says which. */
export function withNumbers({ question, answer, points }, choose) {
  const values = {}
  const filled = (text) => text.replace(MARK, (_, number, kind, rest) => {
    if (kind === 'is') return writtenLike(computed(rest, values), number)
    const [name, list] = rest.split(': ')
    values[name] = choose(list.split(' ').map(Number), valueOf(number))
    return writtenLike(values[name], number)
  })
  return asWritten({ question: filled(question), answer: filled(answer), points })
}

/** What is wrong with a chapter's questions, in lines: the marks must say what is written. */
export function wrongWith(chapter, exam) {
  return exam.flatMap((asked, i) => {
    const wrong = (what) => [`${QUESTIONS}: chapter ${chapter}, question ${i + 1}: ${what}`]
    if (!asked.points) return wrong('no points')
    if (!asked.answer) return wrong('no answer')
    if (/<!--(?:draw|is)\b/.test(`${asked.question}${asked.answer}`.replace(MARK, ''))) return wrong('a mark without its number')
    let told
    try {
      told = withNumbers(asked, (list, written) => {
        if (list.length < 3 || !list.includes(written) || list.some(Number.isNaN)) throw Error(`${written} is none of three or more numbers: ${list.join(' ')}`)
        return written
      })
    } catch (error) {
      return wrong(error.message)
    }
    const here = asWritten(asked)
    const texts = [[here.question, told.question], [here.answer, told.answer]]
    return texts.flatMap(([mine, theirs]) => {
      const [words, others] = [mine.split(' '), theirs.split(' ')]
      const at = words.findIndex((word, k) => word !== others[k])
      return at < 0 ? [] : wrong(`"${words.slice(Math.max(0, at - 3), at + 1).join(' ')}": by its mark it is ${others[at]}`)
    })
  })
}

/** Numbers from 0 to 1, the same for the same words. */
export function randomBy(words) {
  let turn = 0
  return () => createHash('sha256').update(`${words} ${turn++}`).digest().readUInt32BE() / 2 ** 32
}
