// SPDX-License-Identifier: MIT
// VitePress's own theme with the system's fonts, what style.css changes, guesses that come before results, a quiz,
// pictures that a reader can explore, and boxes to tick.

import DefaultTheme from 'vitepress/theme-without-fonts'
import { h, onMounted, ref } from 'vue'
import { GuessFirst, QuizQuestion } from './guess.mjs'
import './guess.css'
import { TickDone, followProgress } from './progress.mjs'
import './lab.css'
import './style.css'
import './phone.css'
import { showEdges } from './edges.mjs'
import { Missing } from './missing.mjs'
import { showTerms } from './terms.mjs'

/** A picture, and what it becomes where scripts run; these are loaded only where there is one. */
const ExploreFigure = {
  props: { src: String },
  setup(props, { slots }) {
    const figure = ref(null)
    onMounted(() => import('../../explore/element.mjs').catch(() => figure.value?.setAttribute('failed', '')))
    return () => h('explore-figure', { src: props.src, ref: figure }, slots.default?.())
  },
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(Missing) }),
  setup() {
    followProgress()
    showEdges()
    onMounted(showTerms)
  },
  enhanceApp({ app }) {
    app.component('GuessFirst', GuessFirst)
    app.component('QuizQuestion', QuizQuestion)
    app.component('ExploreFigure', ExploreFigure)
    app.component('TickDone', TickDone)
  },
}
