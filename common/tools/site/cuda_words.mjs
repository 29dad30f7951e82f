// SPDX-License-Identifier: MIT
// The words that CUDA adds to C++, as a TextMate grammar that extends the one of C++.

const QUALIFIERS = '__(?:global|device|host|shared|constant|managed|restrict|launch_bounds|forceinline|noinline|grid_constant)__'
const VARIABLES = 'threadIdx|blockIdx|blockDim|gridDim|warpSize'
const TYPES = 'dim3|cuda(?:Error|Stream|Event)_t|cudaDeviceProp|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]'
const FUNCTIONS = [
  '__(?:sync(?:threads|warp)|threadfence|shfl|ballot|any|all|activemask|match|reduce)(?:_\\w+)?',
  '__(?:ldg|ldcg|ldca|ldcs|popc|popcll|ffs|ffsll|clz|clzll|nanosleep)',
  'atomic[A-Z]\\w*|cuda[A-Z]\\w*|clock64|clock',
].join('|')

export const cudaWords = {
  name: 'cuda-words',
  scopeName: 'source.cuda-words',
  injectTo: ['source.cpp'],
  injectionSelector: 'L:source.cpp -comment -string',
  patterns: [
    { match: `\\b(?:${QUALIFIERS})`, name: 'storage.modifier.cuda' },
    { match: `\\b(?:${VARIABLES})\\b`, name: 'variable.language.cuda' },
    { match: `\\b(?:${TYPES})\\b`, name: 'storage.type.cuda' },
    { match: `\\b(?:${FUNCTIONS})(?=\\s*\\()`, name: 'support.function.cuda' },
    { match: '<<<|>>>', name: 'keyword.operator.launch.cuda' },
  ],
}
