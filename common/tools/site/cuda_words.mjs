// SPDX-License-Identifier: MIT
// The words that CUDA adds to C++, and a TextMate grammar with them that extends the one of C++.

export const QUALIFIERS = [
  '__global__', '__device__', '__host__', '__shared__', '__constant__', '__managed__',
  '__launch_bounds__', '__restrict__', '__forceinline__', '__noinline__', '__grid_constant__',
]
export const VARIABLES = ['threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'warpSize']
const NUMBERS = ['char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong', 'longlong', 'float', 'double']
export const TYPES = [
  'dim3', 'cudaError_t', 'cudaStream_t', 'cudaEvent_t', 'cudaDeviceProp',
  ...NUMBERS.flatMap((type) => [1, 2, 3, 4].map((lanes) => `${type}${lanes}`)),
]
// Barriers, fences, shuffles, votes, loads and stores past a cache, atomics, and the runtime's calls, as an expression.
export const FUNCTIONS = [
  '__(?:sync(?:threads|warp)|threadfence|shfl|ballot|any|all|activemask|match|reduce)(?:_\\w+)?',
  '__(?:ld(?:g|cg|ca|cs|cv)|st(?:wb|cg|cs|wt)|popc(?:ll)?|ffs(?:ll)?|clz(?:ll)?|fmaf_\\w+|nanosleep|trap)',
  'atomic[A-Z]\\w*|cuda[A-Z]\\w*|clock64|clock',
].join('|')

export const cudaWords = {
  name: 'cuda-words',
  scopeName: 'source.cuda-words',
  injectTo: ['source.cpp'],
  injectionSelector: 'L:source.cpp -comment -string',
  patterns: [
    { match: `\\b(?:${QUALIFIERS.join('|')})`, name: 'storage.modifier.cuda' },
    { match: `\\b(?:${VARIABLES.join('|')})\\b`, name: 'variable.language.cuda' },
    { match: `\\b(?:${TYPES.join('|')})\\b`, name: 'storage.type.cuda' },
    { match: `\\b(?:${FUNCTIONS})(?=\\s*\\()`, name: 'support.function.cuda' },
    { match: '<<<|>>>', name: 'keyword.operator.launch.cuda' },
  ],
}
