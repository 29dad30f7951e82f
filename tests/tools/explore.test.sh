#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the site's explorable figures show is what X-ray saw.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../cli/lib.sh"

command -v node >/dev/null 2>&1 || skip_rest "explorable figures" "Node.js is not here"
site=$PWD/common/tools/site

# refused(picture, name, change): prints why the picture is refused when the results of that name are what change(text) returns.
cat >"$scratch/refused.mjs" <<END
import fs from 'node:fs'
import path from 'node:path'
import { explorable } from '$site/explore/data.mjs'

export function refused(picture, name, change) {
  const results = path.join(picture, '../../results')
  fs.cpSync(results, \`$scratch/\${results}\`, { recursive: true })
  fs.writeFileSync(\`$scratch/\${results}/\${name}\`, change(fs.readFileSync(\`\${results}/\${name}\`, 'utf8')))
  try {
    explorable('$scratch', picture)
  } catch (error) {
    console.log(error.message)
  }
}
END

# Without the barriers the first warp adds up its own 32 values of the first tree and one of each other sum; in the others
# it reads 32 slots of which only those are sums that it wrote itself.
cat >"$scratch/trees.mjs" <<END
import { explorable } from '$site/explore/data.mjs'
import { refused } from './refused.mjs'

const picture = 'chapters/05_shared_tree_reduction/figures/trees.svg'
console.log(explorable('.', picture).kernels.map(({ ahead, report }) => \`\${ahead.at(-1).sum} \${report.join(' ')}\`).join('\n'))
refused(picture, 'events.json', (text) => {
  const all = JSON.parse(text)
  const { events } = all.kernels[1]
  events.splice(events.findLastIndex((event) => event[3] === 'shared' && event[4] === 'store'), 1)
  return JSON.stringify(all)
})
END
test_case "05's trees need their barriers, and a tree that misses a store is refused"
run node "$scratch/trees.mjs"
expect_status 0
expect "a line for each tree without its barriers, and one" [ "$(lines_in "$output")" -eq 4 ]
expect "one value of each of the other sums" grep -q "^34 .* race: a write in kernel 'sum_shared_modulo', .* a read by thread (0,0,0)" <<<"$output"
for kernel in sum_shared_interleaved sum_shared_sequential; do expect "96 values in $kernel" grep -q "^96 .* race: .* in kernel '$kernel'" <<<"$output"; done
expect_output "sum_shared_interleaved: the sum of"

# Of n paths each step inside has 1/n of the lanes; in the loop lane for lane goes round 1 to 32 times, with 8 steps of its
# longest line in a turn; and all meet again at the end.
cat >"$scratch/lanes.mjs" <<END
import { explorable } from '$site/explore/data.mjs'
import { bitsOf } from '$site/explore/events.mjs'

const { traces } = explorable('.', 'chapters/11_warps_and_divergence/figures/divergence.svg')
for (const [name, { codes, steps }] of Object.entries(traces)) {
  const unrolled = codes.findIndex((code) => code.includes('++j'))
  const inside = steps.filter(([code]) => code === unrolled).map(([, mask]) => bitsOf(mask))
  const of = Array(32).fill(0)
  for (const lane of inside.flat()) of[lane]++
  const counts = name === 'loop' ? of.sort((a, b) => a - b).map((steps) => steps / 8) : [...new Set(inside.map((lanes) => lanes.length))]
  console.log(name, counts.join(), bitsOf(steps.at(-1)[1]).length)
}
END
test_case "11's lanes go the ways that its kernels say"
run node "$scratch/lanes.mjs"
expect_status 0
for trace in "one 32" "two 16" "four 8" "all 1" "branch 16" "loop $(seq -s, 32)"; do expect_output "$trace 32"; done

# A block of chapter 08 reads 96 columns of A and 96 rows of B for its 32 x 32 elements of C, from memory once, from its tiles
# once for each step; and in chapter 14 no slice is read before the barrier after which it is complete.
cat >"$scratch/steps.mjs" <<END
import { explorable } from '$site/explore/data.mjs'
import { refused } from './refused.mjs'

const picture = (name) => \`chapters/\${name}\`
for (const [trace, { steps }] of Object.entries(explorable('.', picture('08_tiled_matmul/figures/walk.svg')).kernels)) {
  const sums = {}
  for (const { row, does, regions } of steps) {
    for (const [, bytes, , count] of regions) sums[\`\${row} \${does}\`] = (sums[\`\${row} \${does}\`] ?? 0) + bytes * count
  }
  console.log(trace, JSON.stringify(sums))
}
const slices = picture('14_matmul_at_the_limit/figures/tiles.svg')
console.log(Object.values(explorable('.', slices).kernels).map(({ arrays }) => arrays.length).join())
refused(slices, 'steps.json', (text) => {
  const all = JSON.parse(text)
  const { steps } = all.kernels.find(({ trace }) => trace === 'large_tiles')
  steps.splice(steps.findIndex((step) => step[3] === 'barrier'), 1)
  return JSON.stringify(all)
})
END
test_case "tiles and slices are written and read as the kernels say, and a missing barrier is found"
run node "$scratch/steps.mjs"
expect_status 0
tiles='"tile_a writes":12288,"tile_b writes":12288,"tile_a reads":12288,"tile_b reads":12288,"global memory writes":4096'
for trace in tiled_32 tiled_32_ahead; do expect_output "$trace {\"global memory reads\":24576,$tiles}"; done
expect_output "2,4,2"
expect_output "large_tiles: slice 0 is read before it is written, at step"

# Chapter 04's launch: all 264 places are taken in the first two waves, half of them in the last, and each block lies in one
# place at a time. Chapter 15's tiles are those of the shape, and stored waves that these do not make are refused.
cat >"$scratch/waves.mjs" <<END
import { explorable } from '$site/explore/data.mjs'
import { blocks, waves, wavesHold } from '$site/explore/waves.mjs'

const launch = explorable('.', 'chapters/04_multi_block/figures/blocks.svg')
const overlaps = launch.blocks.filter(([sm, place, start], i) => launch.blocks.slice(0, i).some(([s, p, , end]) => s === sm && p === place && end > start))
console.log(launch.multiprocessors, launch.places, launch.blocks.length, overlaps.length)
for (const share of [0.2, 0.5, 0.8]) console.log(/in (\\d+) of (\\d+) places/.exec(blocks.draw({ time: share * launch.end }, launch, 700).says).slice(1).join(' of '))
const product = explorable('.', 'chapters/15_matmul_of_any_shape/figures/sawtooth.svg')
for (const [columns, tiles] of Object.entries(product.tiles)) if (tiles !== 12 * Math.ceil(columns / 256)) console.log(\`\${columns}: \${tiles}\`)
console.log(waves.leaps({ columns: 256 }, product)[0].to, waves.leaps({ columns: 2820 }, product)[0].to, waves.leaps({ columns: 8448 }, product)[0].to)
console.log(waves.draw({ columns: 2820, even: true }, product, 700).says)
try {
  wavesHold(product, { ...Object.fromEntries(product.columns.map((c) => [c, Math.ceil(product.tiles[c] / 132)])), 2820: 1 })
} catch (error) {
  console.log(error.message)
}
END
test_case "04's blocks and 15's tiles are those that were measured, and other waves are refused"
run node "$scratch/waves.mjs"
expect_status 0
expect_output "132 2 660 0"
for places in "264 of 264" "264 of 264" "132 of 264"; do expect_output "$places"; done
expect_output "2820 5636 256"
expect_output "steps of 36,864. Measured on an NVIDIA H200: 0.831 ms, 1.24 times"
expect_output "2820 columns: 144 tiles are not 1 waves"

# The slider of tiles and of slices stops at bars and at barriers; the button leads from barrier to barrier, and round again.
cat >"$scratch/stops.mjs" <<END
import { explorable } from '$site/explore/data.mjs'
import { pipeline, stopsOf } from '$site/explore/pipeline.mjs'

const data = explorable('.', 'chapters/08_tiled_matmul/figures/walk.svg')
const state = { kernel: 'tiled_32', step: 0 }
const met = Array.from({ length: 7 }, () => (state.step = pipeline.leaps(state, data)[0].to))
const barriers = data.kernels.tiled_32.steps.flatMap(({ row }, i) => (row === null ? [i] : []))
console.log(met.join() === [...barriers, barriers[0]].join(), stopsOf(state, data).length)
const bytes = /([\\d,]+) bytes of tile_a are read/.exec(pipeline.draw(data.start, data, 700).says)
console.log(bytes?.[1])
console.log(pipeline.draw({ kernel: 'tiled_32', step: 0 }, data, 700).svg.match(/not written yet/g).length)
END
test_case "08's tiles are read as a whole at one stop, barriers follow each other, and an empty tile says why"
run node "$scratch/stops.mjs"
expect_status 0
expect "six barriers, 22 stops, a tile of 4,096 bytes, an empty tile" [ "$output" = "$(printf 'true 22\n4,096\n1')" ]

# Of chapter 16's fragments a lane holds four pairs of A, two of B and four sums; the sums' rows and columns are held by as
# many other lanes as the instruction's groups of four and of eight say. Stored fragments with an element twice are refused, and
# so are rows that do not lie where the drawing has them.
cat >"$scratch/fragments.mjs" <<END
import { explorable } from '$site/explore/data.mjs'
import { fragments, swizzle } from '$site/explore/fragments.mjs'
import { refused } from './refused.mjs'

const chapter = 'chapters/16_tensor_cores'
const [held, rows] = ['fragments', 'swizzle'].map((name) => \`\${chapter}/figures/\${name}.svg\`)
const data = explorable('.', held)
for (const lane of [0, 5, 31]) console.log(fragments.draw({ lane }, data, 700).says)
const { lanes } = data
console.log(lanes.every(({ a, b, d }) => a.length === 8 && b.length === 4 && d.length === 4), lanes[6].a[2].join(), lanes[6].b[2].join(), lanes[6].d[2].join())
for (const width of [330, 700]) {
  const [x, y] = /<rect class="used" x="([^"]*)" y="([^"]*)"/.exec(fragments.draw({ lane: 9 }, data, width).svg).slice(1).map(Number)
  console.log(fragments.press({ x: x + 2, y: y + 2 }, { lane: 0 }, data, width).lane)
}
for (const bytes of [64, 128, 256]) {
  console.log(bytes, [false, true].map((swizzled) => /takes (\d+)/.exec(swizzle.draw({ bytes, swizzled, piece: 1 }, explorable('.', rows), 700).says)[1]).join())
}
console.log(swizzle.press({ x: 690, y: 30 }, { bytes: 128, swizzled: true, piece: 0 }, {}, 700).piece, swizzle.press({ x: 690, y: 50 }, { bytes: 128, swizzled: true, piece: 0 }, {}, 700).piece)
refused(held, 'fragments.csv', (text) => text.replace('a,0,0,1,0,1', 'a,0,0,1,0,0'))
refused(rows, 'xray.csv', (text) => text.replace('0 144 288 432', '0 128 256 384'))
refused(rows, 'xray.csv', (text) => text.replace(',32,4,0,0,0,0 128 256', ',16,4,0,0,0,0 128 256'))
END
test_case "16's lanes hold each element once, rows lie where X-ray saw them, and others are refused"
run node "$scratch/fragments.mjs"
expect_status 0
expect_output "Lane 5 holds 8 elements of A, 4 of B and 4 sums. The sums are made of rows 1 and 9 of A and columns 2 and 3 of B, of which 11 other lanes"
expect_output "true 9,4,1 12,1,1 9,4,2"
expect "a press on lane 9's element, narrow and wide" [ "$(grep -c '^9$' <<<"$output")" -eq 2 ]
for wavefronts in "64 16,4" "128 32,4" "256 32,4"; do expect_output "$wavefronts"; done
expect_output "7 6"
expect_output "fragments.csv: 255 elements of a in 256 places"
expect_output "load_rows<8u, true>: its rows lie elsewhere"
expect_output "load_rows<8u, false>: X-ray counted 16 wavefronts, not 32"

# A class without a rule would be drawn black, or not at all.
cat >"$scratch/classes.mjs" <<END
import fs from 'node:fs'
import { explorable } from '$site/explore/data.mjs'
import { divergence } from '$site/explore/divergence.mjs'
import { fragments, swizzle } from '$site/explore/fragments.mjs'
import { latency } from '$site/explore/latency.mjs'
import { pipeline } from '$site/explore/pipeline.mjs'
import { banks, coalescing } from '$site/explore/requests.mjs'
import { trees } from '$site/explore/trees.mjs'
import { blocks, waves } from '$site/explore/waves.mjs'

const figures = { banks, blocks, coalescing, divergence, fragments, latency, pipeline, swizzle, trees, waves }
const style = fs.readFileSync('$site/explore/style.css', 'utf8')
const drawn = new Set()
const classes = new Set()
for (const chapter of fs.readdirSync('chapters')) {
  const folder = \`chapters/\${chapter}/figures\`
  for (const file of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const data = explorable('.', \`\${folder}/\${file}\`)
    if (!data) continue
    drawn.add(data.kind)
    for (const { state } of [{}, ...data.presets]) {
      const { svg } = figures[data.kind].draw({ ...data.start, ...state }, data, 700)
      for (const [, names] of svg.matchAll(/class="([^"]*)"/g)) names.split(' ').forEach((name) => classes.add(name))
      for (const [name] of figures[data.kind].legend?.(data) ?? []) classes.add(name)
      // A slider that goes on by itself gets to its end, and no slider has hundreds of stops.
      const most = figures[data.kind].plays ? 45 : 60
      for (const control of figures[data.kind].controls(data)) {
        const values = typeof control.values === 'function' ? control.values({ ...data.start, ...state }, data) : control.values
        if (values.length > most) console.log(\`\${file}: \${values.length} values of \${control.name}\`)
      }
    }
  }
}
console.log([...drawn].sort().join())
for (const name of classes) if (!new RegExp(\`[.]\${name}\\\\b\`).test(style)) console.log(\`no rule for \${name}\`)
END
test_case "each class in the drawings of figures that can be explored has a rule"
run node "$scratch/classes.mjs"
expect_status 0
expect "a drawing of each kind, and nothing else" [ "$output" = banks,blocks,coalescing,divergence,fragments,latency,pipeline,swizzle,trees,waves ]
