// SPDX-License-Identifier: MIT
// What is wider than the screen scrolls in a box of its own: the box says at which of its ends there is more, and phone.css
// shades that end. Such a box can have the focus, so that the arrow keys scroll it.

import { useRoute } from 'vitepress'
import { nextTick, onMounted, watch } from 'vue'

const BOXES = '.vp-doc :is(pre, table, p:has(> img:only-child))'

function mark(box) {
  const rest = box.scrollWidth - box.clientWidth
  const scrolls = rest > 1 && getComputedStyle(box).overflowX !== 'visible'
  box.classList.toggle('more-left', scrolls && box.scrollLeft > 1)
  box.classList.toggle('more-right', scrolls && box.scrollLeft < rest - 1)
  if (scrolls) box.tabIndex = 0
  else if (!box.matches('pre')) box.removeAttribute('tabindex')
}

/** For the theme's setup: from now on, on every page. A fold that opens, a picture that loads, a phone that is turned: each changes a box's size. */
export function showEdges() {
  const route = useRoute()
  onMounted(() => {
    const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target.closest(BOXES) ?? target)))
    const observe = () => {
      sizes.disconnect()
      for (const box of document.querySelectorAll(BOXES)) {
        sizes.observe(box)
        for (const child of box.children) sizes.observe(child)
      }
    }
    addEventListener('scroll', ({ target }) => target.matches?.(BOXES) && mark(target), { capture: true, passive: true })
    watch(() => route.path, () => nextTick(observe), { immediate: true })
  })
}
