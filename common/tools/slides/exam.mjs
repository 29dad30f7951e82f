// SPDX-License-Identifier: MIT
// An exam about some chapters, with numbers that are drawn, and a key: FOLDER/02-05_7_exam and 02-05_7_key.
//
//   node exam.mjs PACKAGES FOLDER CH SEED MINUTES CHAPTER...      as in CH=02-05, which CHAPTERs are
//
// Each chapter gives a question, then each a second one, as long as there are minutes. The same words draw the same.
import { readFileSync } from 'node:fs'
import { headings, withoutComments } from '../site/markdown.mjs'
import { field, numbered, openMarkdown, writePages } from './paper.mjs'
import { examQuestions, MINUTES_OF_A_POINT, randomBy, withNumbers, wrongWith } from '../site/questions.mjs'

const [packages, folder, ch, seed, minutes, ...chapters] = process.argv.slice(2)
const { html } = openMarkdown(packages)
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0)
const most = Math.floor(minutes / MINUTES_OF_A_POINT)
const worth = (points) => `${points} point${points === 1 ? '' : 's'}, ${points * MINUTES_OF_A_POINT} minutes`

function stop(status, ...lines) {
  console.error(lines.join('\n'))
  process.exit(status)
}

/** In an order that the words draw. */
function shuffled(things, words) {
  const random = randomBy(words)
  return things.map((thing) => ({ thing, at: random() })).sort((a, b) => a.at - b.at).map(({ thing }) => thing)
}

/** [{ chapter, number }] of the questions, in the file's order. */
function chosen(exams) {
  const left = new Map(chapters.map((c) => [c, shuffled(exams.get(c.slice(0, 2)).map((_, i) => i), `${seed} ${c}`)]))
  const pointsOf = (c, number) => exams.get(c.slice(0, 2))[number].points
  const least = new Map(chapters.map((c) => [c, Math.min(...left.get(c).map((number) => pointsOf(c, number)))]))
  let kept = sum([...least.values()]) // for chapters that have given no question yet
  if (kept > most) stop(2, `TIME=${minutes}: a question of each chapter takes at least ${kept * MINUTES_OF_A_POINT} minutes`)
  const taken = []
  let used = 0
  const rounds = Math.max(...[...left.values()].map((numbers) => numbers.length))
  for (let round = 0; round < rounds; round++) {
    for (const chapter of shuffled(chapters, `${seed} round ${round}`)) {
      if (round === 0) kept -= least.get(chapter)
      const numbers = left.get(chapter)
      const fits = numbers.findIndex((number) => used + kept + pointsOf(chapter, number) <= most)
      if (fits < 0) continue
      used += pointsOf(chapter, numbers[fits])
      taken.push({ chapter, number: numbers.splice(fits, 1)[0] })
    }
  }
  return taken.sort((a, b) => a.chapter.localeCompare(b.chapter) || a.number - b.number)
}

const exams = examQuestions()
const wrong = chapters.flatMap((c) => {
  const exam = exams.get(c.slice(0, 2)) ?? []
  return exam.length ? wrongWith(c.slice(0, 2), exam) : [`chapters/exam_questions.md: no questions of chapter ${c.slice(0, 2)}`]
})
if (wrong.length) stop(1, ...wrong)

/** In an exam a number that is drawn is another one than the file has, which everybody can read. */
function asked({ chapter, number }) {
  const random = randomBy(`${seed} ${chapter} ${number}`)
  const choose = (list, written) => {
    const others = list.filter((value) => value !== written)
    return others[Math.floor(random() * others.length)]
  }
  return { chapter, ...withNumbers(exams.get(chapter.slice(0, 2))[number], choose) }
}

const questions = chosen(exams).map(asked)
const points = sum(questions.map((q) => q.points))
const titleOf = (chapter) => headings(withoutComments(readFileSync(`chapters/${chapter}/README.md`, 'utf8')))[0].text

/** The questions below their chapters' titles, each as `one` writes it. */
function listed(one) {
  return chapters.map((chapter) => {
    const first = 1 + questions.findIndex((q) => q.chapter === chapter)
    const of = questions.filter((q) => q.chapter === chapter)
    return `<h2>${titleOf(chapter)}</h2>\n${numbered(of.map(one), first)}`
  }).join('\n')
}

const name = `${ch}_${seed}`
const head = `<p>${worth(points)}.</p>`
await writePages(packages, folder, {
  [`${name}_exam`]: {
    title: `Exam ${seed}`,
    body: `<p>${field('Name', 'wide')}${field('Date', 'narrow')}${field(`Points, of ${points}`, 'narrow')}</p>${head}
${listed((q) => `${html(`${q.question}\n\n*${worth(q.points)}*`)}<div class="room" style="height: ${11 * q.points}mm"></div>`)}`,
  },
  [`${name}_key`]: {
    title: `Exam ${seed}: key, for the teacher`,
    body: `${head}<p>Made by <code>make exam CH=${ch} SEED=${seed} TIME=${minutes}</code>. Points are for results, for the steps that lead to them, and for reasons.</p>
${listed((q) => `${html(`${q.question}\n\n*${worth(q.points)}*`)}<div class="answer">${html(q.answer)}</div>`)}`,
  },
})
console.log(`  ${folder}/${name}_exam and ${name}_key: ${questions.length} questions, ${worth(points)}`)
