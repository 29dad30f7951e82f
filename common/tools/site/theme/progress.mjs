// SPDX-License-Identifier: MIT
// What a reader has ticked, lessons read and exercises solved: the browser keeps it, and the sidebar shows it.

import { useData, useRoute } from 'vitepress'
import { h, nextTick, onMounted, ref, watch } from 'vue'

/** The text kept under a key, or null; with a value, keeps that, and with null forgets it. The browser may refuse. */
export function kept(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key)
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // Then it lasts as long as the page.
  }
  return null
}

const keyOf = (path, exercise) => `done ${path.replace(/index\.html$/, '')}${exercise ? `#${exercise}` : ''}`

/** Writes after each link of the sidebar what is done of its page; `exercises` has the number of those on a page. */
function markSidebar(exercises) {
  for (const link of document.querySelectorAll('.VPSidebar a[href]')) {
    const all = exercises[link.pathname] ?? 0
    const solved = Array.from({ length: all }, (_, i) => kept(keyOf(link.pathname, i + 1))).filter(Boolean).length
    const mark = all > 0 ? solved && `${solved} of ${all}` : kept(keyOf(link.pathname)) && '✓'
    if (mark) link.dataset.done = mark
    else delete link.dataset.done
  }
}

/** A box to tick for a lesson, or for an exercise of that number. */
export const TickDone = {
  props: { exercise: String, label: String },
  setup(props) {
    const { theme } = useData()
    const done = ref(false)
    const key = () => keyOf(location.pathname, props.exercise)
    onMounted(() => (done.value = kept(key()) !== null))
    const change = (event) => {
      done.value = event.target.checked
      kept(key(), done.value ? 'yes' : null)
      markSidebar(theme.value.exercises)
    }
    return () => h('p', { class: 'tick' }, h('label', [h('input', { type: 'checkbox', checked: done.value, onChange: change }), props.label]))
  },
}

/** For the theme's setup: the sidebar shows on every page what is done. */
export function followProgress() {
  const route = useRoute()
  const { theme } = useData()
  onMounted(() => watch(() => route.path, () => nextTick(() => markSidebar(theme.value.exercises)), { immediate: true }))
}
