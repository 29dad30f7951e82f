// SPDX-License-Identifier: MIT
// The language `cuda` for highlight.js: C++, the words that CUDA adds to it, and the launch brackets.

const QUALIFIERS = [
  '__global__', '__device__', '__host__', '__shared__', '__constant__', '__managed__',
  '__launch_bounds__', '__restrict__', '__forceinline__', '__noinline__', '__grid_constant__',
]

const VARIABLES = ['threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'warpSize']

const TYPES = [
  'dim3', 'cudaError_t', 'cudaStream_t', 'cudaEvent_t', 'cudaDeviceProp',
  ...['char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'longlong', 'float', 'double'].flatMap((type) =>
    [1, 2, 3, 4].map((lanes) => `${type}${lanes}`),
  ),
]

// Barriers, fences, atomics, shuffles, votes, loads past a cache, and the runtime's calls.
const FUNCTIONS =
  /\b(?:__(?:sync(?:threads|warp)\w*|threadfence\w*|shfl_\w+|ballot_sync|any_sync|all_sync|activemask|ld(?:g|cg|ca|cs|cv)|st(?:wb|cg|cs|wt)|popc(?:ll)?|ffs(?:ll)?|clz(?:ll)?|fmaf_\w+|nanosleep|trap)|atomic[A-Z]\w*|cuda[A-Z]\w*|clock64|clock)(?=\s*\()/

// Every list of rules in which C++ looks for calls: at the top, behind a `=`, inside parentheses.
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
    rules.unshift({ scope: 'built_in', match: FUNCTIONS, relevance: 0 }, { scope: 'launch', match: /<<<|>>>/ })
  }
  return { ...language, name: 'CUDA', aliases: ['cu'] }
}
