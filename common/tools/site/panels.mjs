// SPDX-License-Identifier: MIT
// A figure of two panels beside each other: on a telephone they stand below each other (theme/phone.css). Its SVG says where
// they are, data-panels="x y width height, ..." (common/tools/figures/style.py), the last of them perhaps what stands below both.

import fs from 'node:fs'
import path from 'node:path'

const NAMES = ['The panel on the left', 'The panel on the right', 'Where it was measured']

/** The Markdown of an image, and behind it the same file once for each panel, all to one scale. */
export function withPanels(root, picture, image) {
  const given = picture?.endsWith('.svg') && /\bdata-panels="([^"]*)"/.exec(fs.readFileSync(path.join(root, picture), 'utf8'))
  if (!given) return image
  const [, alt, target] = /^!\[(.*)\]\((\S+)\)$/.exec(image)
  const views = given[1].split(', ').map((view) => view.split(' ').map(Number))
  const most = Math.max(...views.map(([, , width]) => width))
  const images = views.map(([x, y, width, height], i) => {
    const place = `width:${((100 * width) / most).toFixed(1)}%;aspect-ratio:${width}/${height}`
    return `<img alt="${NAMES[i]}" loading="lazy" src="${target}#svgView(viewBox(${x},${y},${width},${height}))" style="${place}">`
  })
  return `${image}<span class="panels" role="img" aria-label="${alt.replace(/"/g, '&quot;')}">${images.join('')}</span>`
}
