// SPDX-License-Identifier: MIT
// The words that CUDA adds to C++, and C++ with them as two highlighters take it: the site's and, of decks and handouts,
// highlight.js.

const QUALIFIERS = [
  '__global__', '__device__', '__host__', '__shared__', '__constant__', '__managed__',
  '__launch_bounds__', '__restrict__', '__forceinline__', '__noinline__', '__grid_constant__',
]
const VARIABLES = ['threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'warpSize']
const NUMBERS = ['char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'longlong', 'float', 'double']
const TYPES = [
  'dim3', 'cudaError_t', 'cudaStream_t', 'cudaEvent_t', 'cudaDeviceProp',
  ...NUMBERS.flatMap((type) => [1, 2, 3, 4].map((lanes) => `${type}${lanes}`)),
]
// Barriers, fences, shuffles, votes, loads and stores past a cache, atomics, and the runtime's calls, as expressions.
const FUNCTIONS = [
  '__(?:sync(?:threads|warp)|threadfence|shfl|ballot|any|all|activemask|match|reduce)(?:_\\w+)?',
  '__(?:ld(?:g|cg|ca|cs|cv)|st(?:wb|cg|cs|wt)|popc(?:ll)?|ffs(?:ll)?|clz(?:ll)?|fmaf_\\w+|nanosleep|trap)',
  'atomic[A-Z]\\w*|cuda[A-Z]\\w*|clock64|clock',
]
const CALL = `\\b(?:${FUNCTIONS.join('|')})(?=\\s*\\()`
const LAUNCH = '<<<|>>>'

/** A TextMate grammar that extends the one of C++. */
export const cudaWords = {
  name: 'cuda-words',
  scopeName: 'source.cuda-words',
  injectTo: ['source.cpp'],
  injectionSelector: 'L:source.cpp -comment -string',
  patterns: [
    { match: `\\b(?:${QUALIFIERS.join('|')})`, name: 'storage.modifier.cuda' },
    { match: `\\b(?:${VARIABLES.join('|')})\\b`, name: 'variable.language.cuda' },
    { match: `\\b(?:${TYPES.join('|')})\\b`, name: 'storage.type.cuda' },
    { match: CALL, name: 'support.function.cuda' },
    { match: LAUNCH, name: 'keyword.operator.launch.cuda' },
  ],
}

// Every list of rules in which C++ looks for calls: at the top, after a `=`, inside parentheses.
function listsOfRules(mode, found = new Set()) {
  for (const list of [mode.contains ?? [], mode.variants ?? []]) {
    if (found.has(list)) continue
    if (list.some((rule) => rule.className === 'function.dispatch')) found.add(list)
    list.forEach((rule) => rule !== 'self' && listsOfRules(rule, found))
  }
  return found
}

/** The language `cuda` for highlight.js. */
export function cuda(hljs) {
  const language = hljs.getLanguage('cpp').rawDefinition() // made anew by each call: ours to change
  language.keywords.keyword.push(...QUALIFIERS)
  language.keywords.type.push(...TYPES)
  language.keywords.built_in.push(...VARIABLES)
  for (const rules of listsOfRules(language)) {
    rules.unshift({ scope: 'built_in', match: CALL, relevance: 0 }, { scope: 'launch', match: LAUNCH })
  }
  return { ...language, name: 'CUDA', aliases: ['cu'] }
}
