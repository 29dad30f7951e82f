// SPDX-License-Identifier: MIT
// The language `cuda` for highlight.js: C++, the words that CUDA adds to it, and the launch brackets.

import { FUNCTIONS, QUALIFIERS, TYPES, VARIABLES } from '../site/cuda_words.mjs'

const CALL = new RegExp(`\\b(?:${FUNCTIONS})(?=\\s*\\()`)

// Every list of rules in which C++ looks for calls: at the top, after a `=`, inside parentheses.
function listsOfRules(mode, found = new Set()) {
  for (const list of [mode.contains ?? [], mode.variants ?? []]) {
    if (found.has(list)) continue
    if (list.some((rule) => rule.className === 'function.dispatch')) found.add(list)
    list.forEach((rule) => rule !== 'self' && listsOfRules(rule, found))
  }
  return found
}

export function cuda(hljs) {
  const language = hljs.getLanguage('cpp').rawDefinition() // made anew by each call: ours to change
  language.keywords.keyword.push(...QUALIFIERS)
  language.keywords.type.push(...TYPES)
  language.keywords.built_in.push(...VARIABLES)
  for (const rules of listsOfRules(language)) {
    rules.unshift({ scope: 'built_in', match: CALL, relevance: 0 }, { scope: 'launch', match: /<<<|>>>/ })
  }
  return { ...language, name: 'CUDA', aliases: ['cu'] }
}
