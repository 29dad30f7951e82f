// SPDX-License-Identifier: MIT
// Finds which lines of which program the notes show. common/tools/notes/notes.py has put them there, below
// comments like <!-- code: NAME file="..." -->.

import fs from 'node:fs'
import path from 'node:path'

const LISTING = /<!--\s*code:\s*([\s\S]*?)\s*-->\n(`{3,})[^\n]*\n([\s\S]*?)\n\2$/gm

/** The 0-based line of `source` where `code` begins, whatever its indentation; -1 when it is not there. */
function findLine(source, code) {
  const wanted = code.map((line) => line.trim())
  const lines = source.map((line) => line.trim())
  return lines.findIndex((_, at) => wanted.every((line, i) => lines[at + i] === line))
}

/** In order: { at, name, source, first, last }, where `at` is the position of the comment. */
export function listings(root, file, markdown, program) {
  return [...markdown.matchAll(LISTING)].flatMap((match) => {
    const [, head, , code] = match
    const given = /\bfile="([^"]+)"/.exec(head)?.[1]
    const source = given ? path.posix.join(path.posix.dirname(file), given) : program
    if (!source || !fs.existsSync(path.join(root, source))) return []
    const lines = code.split('\n')
    const line = findLine(fs.readFileSync(path.join(root, source), 'utf8').split('\n'), lines)
    return line < 0 ? [] : [{ at: match.index, name: head.split(/\s/)[0], source, first: line + 1, last: line + lines.length }]
  })
}
