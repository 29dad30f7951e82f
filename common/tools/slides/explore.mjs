// SPDX-License-Identifier: MIT
// In a deck's HTML a click on a picture that can be explored (../site/explore), or on the button below it that says so, opens
// a window over the slide, in which words are as large as the deck's. The deck stays one file: each module becomes a data: address that holds its text, and so do the modules that it imports.
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { explorable } from '../site/explore/data.mjs'

const EXPLORE = 'common/tools/site/explore' // make runs in the repository's root

const STYLE = `dialog.explore {
  --vp-c-bg: #fff; --vp-c-text-1: #16202c; --vp-c-text-2: #4c5967; --vp-c-divider: #c9d2dc;
  --vp-c-brand-1: #005a8e; --vp-c-brand-3: #0072b2; --vp-c-danger-1: #b34700; --vp-font-family-mono: 'DejaVu Sans Mono', monospace;
  --explore-used: #0072b2; --explore-other: #b34700; --explore-moved: #cfd6de;
  background: #fff; border: 0; border-radius: 8px; box-sizing: border-box; color: #16202c;
  font: 16px/1.4 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; max-width: none; overflow: auto;
  padding: 0.5rem; width: fit-content;
}
dialog.explore explore-figure { margin: 0 0 0.4rem; }
dialog.explore img { display: none; } /* the slide shows it */
dialog.explore > button, button.explore { background: #fff; border: 2px solid #0072b2; border-radius: 6px; color: #005a8e; cursor: pointer; font: inherit; }
button.explore { bottom: 10px; font-size: 20px; padding: 2px 14px; position: absolute; right: 130px; }
@media print { button.explore { display: none; } }
dialog.explore::backdrop { background: rgb(16 38 61 / 70%); }`

const address = (module) => `data:text/javascript;base64,${Buffer.from(module).toString('base64')}`

/** The address of a module, with its text and those of its imports inside. */
function moduleAddress(path) {
  const file = path.replace(/\?.*/, '')
  const text = readFileSync(file, 'utf8')
  const module = path.endsWith('?inline')
    ? `export default ${JSON.stringify(text)}`
    : text.replace(/ from '(\.[^']*)'/g, (_, name) => ` from '${moduleAddress(join(dirname(file), name))}'`)
  return address(module)
}

// Runs in the deck. The keys that move sliders must not turn pages, so no key leaves the dialog. A picture of the deck, which
// has no keys, stays as it is.
function explorePictures(data) {
  if (!document.querySelector('.bespoke-marp-parent')) return
  // Words of 12 and 14 pixels become as large as the deck's, whatever the window: the largest of these with which all is seen.
  const MAGNIFICATIONS = [1.9, 1.75, 1.6, 1.46]
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  for (const image of document.querySelectorAll('img[data-explore]')) {
    image.tabIndex = 0
    image.role = 'button'
    image.title = 'Explore this figure'
    const open = () => {
      const dialog = document.body.appendChild(document.createElement('dialog'))
      dialog.className = 'explore'
      dialog.onkeydown = (event) => event.stopPropagation()
      const magnify = async () => {
        for (const magnification of MAGNIFICATIONS) {
          const zoom = magnification * Math.min(innerWidth / 1280, innerHeight / 720)
          dialog.style.zoom = zoom
          dialog.style.maxHeight = `${(0.98 * innerHeight) / zoom}px`
          figure.style.width = `${(0.96 * innerWidth) / zoom}px`
          await painted()
          if (dialog.scrollHeight <= dialog.clientHeight) return
        }
      }
      dialog.onclose = () => {
        removeEventListener('resize', magnify)
        dialog.remove()
      }
      const figure = document.createElement('explore-figure')
      figure.given = data[image.dataset.explore]
      figure.append(image.cloneNode())
      const close = document.createElement('button')
      close.textContent = 'Close'
      close.onclick = () => dialog.close()
      dialog.append(figure, close)
      dialog.showModal()
      magnify()
      addEventListener('resize', magnify)
    }
    image.onclick = open
    const button = document.createElement('button')
    button.className = 'explore'
    button.textContent = 'Explore this figure: press here'
    button.tabIndex = -1 // the picture itself takes the focus
    button.onclick = open
    image.closest('section').append(button)
    image.onkeydown = (event) => {
      if (event.key !== 'Enter') return
      event.stopPropagation()
      open()
    }
  }
}

/** A plugin of markdown-it, for decks in `folder`: marks the pictures, and adds data and script after the last slide. */
export function picturesCanBeExplored(folder) {
  return (md) => {
    md.core.ruler.before('figures_inline', 'pictures_can_be_explored', (state) => {
      const data = {}
      for (const image of state.tokens.flatMap((token) => token.children ?? [])) {
        if (image.type !== 'image') continue
        const picture = relative('.', resolve(folder, decodeURI(image.attrGet('src'))))
        const found = explorable('.', picture)
        if (!found) continue
        data[picture] = found
        image.attrSet('data-explore', picture)
      }
      if (Object.keys(data).length === 0) return
      const script = new state.Token('html_block', '', 0)
      const module = `import '${moduleAddress(`${EXPLORE}/element.mjs`)}'\n;(${explorePictures})(${JSON.stringify(data)})`
      script.content = `<style>${STYLE}</style><script type="module" src="${address(module)}"></script>\n`
      const end = state.tokens.map((token) => token.type).lastIndexOf('marpit_slide_close')
      state.tokens.splice(end < 0 ? state.tokens.length : end, 0, script)
    })
  }
}
