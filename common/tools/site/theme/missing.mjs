// SPDX-License-Identifier: MIT
// What stands where an address leads to no page: the ways into the course.

import { useData, withBase } from 'vitepress'
import { h } from 'vue'

export const Missing = {
  setup() {
    const { theme } = useData()
    const link = ({ text, link: to }) => h('li', h('a', { href: withBase(to) }, text))
    return () =>
      h('main', { class: 'missing vp-doc' }, [
        h('h1', 'There is no such page'),
        h('p', 'The address is mistyped, or the page has another name now. The search at the top looks through every page; these are the ways into the course.'),
        ...theme.value.sidebar.flatMap(({ text, items }) => [h('h2', text), h('ul', items.map(link))]),
      ])
  },
}
