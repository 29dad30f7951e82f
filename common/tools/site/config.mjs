// SPDX-License-Identifier: MIT
// How VitePress builds the site from what prepare.mjs has written. Nothing is fetched from other hosts:
// the fonts are the system's, the search runs in the reader's browser.

import fs from 'node:fs'
import { defineConfig } from 'vitepress'
import { cudaWords } from '../cuda_words.mjs'
import { glossaryFirst } from '../glossary.mjs'
import { breakable, breakableCell, slug } from '../markdown.mjs'
import { cards } from '../tables.mjs'

const site = JSON.parse(fs.readFileSync(new URL('../pages/site.json', import.meta.url), 'utf8'))

// VitePress adds to Markdown what GitHub does not know; here that stays plain text, as on GitHub.
const CONTAINERS = ['tip', 'info', 'warning', 'danger', 'details', 'code-group', 'raw', 'v-pre']
const NOT_ON_GITHUB = ['snippet', 'toc', ...CONTAINERS.map((name) => `container_${name}`)]

/** The search sees a page without the lines that prepare.mjs has added. */
function searchable(source, env, md) {
  const html = md.render(source, env)
  return env.frontmatter?.search === false ? '' : html.replace(/<!-- beside -->.*?<!-- \/beside -->|<p class="(?:facts|listing|actions|for-teachers)">.*?<\/p>/gs, '')
}

export default defineConfig({
  srcDir: 'pages',
  outDir: '../site.partial',
  base: site.base,
  lang: 'en',
  title: site.title,
  titleTemplate: `:title | ${site.title.split(',')[0]}`,
  description: site.description,
  head: [
    ['link', { rel: 'icon', href: `${site.base}favicon.svg`, type: 'image/svg+xml' }],
    // Before the page is drawn: results wait for a guess, which needs a script.
    ['script', {}, "document.documentElement.classList.add('guesses')"],
  ],
  vite: {
    logLevel: 'warn',
    build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 },
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languages: [cudaWords],
    languageAlias: { cuda: 'cpp', cu: 'cpp' },
    attrs: { disable: true },
    anchor: { slugify: slug },
    config(md) {
      md.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
      md.block.ruler.disable(NOT_ON_GITHUB, true)
      md.inline.ruler.disable(NOT_ON_GITHUB, true)
      cards(md)
      // The page becomes a template of Vue's, where two braces are more than text. No line begins with a number's %.
      const text = md.renderer.rules.text
      md.renderer.rules.text = (...given) => text(...given).replace(/\{\{/g, '&#123;&#123;').replace(/(\d) %/g, '$1\u00a0%').replace(/[^<>]+/g, breakableCell)
      // In code neither does an option's name part with its dashes.
      const code = md.renderer.rules.code_inline
      md.renderer.rules.code_inline = (...given) => code(...given).replace(/(?<=>)[^<]+/, (name) => breakable(name).replace(/(?<![\w-])--?[a-z][\w-]{0,24}/g, '<span class="option">$&</span>'))
      // The title of a link to the glossary is the term's sentence (prepare.mjs), which theme/terms.mjs shows.
      const open = md.renderer.rules.link_open
      md.renderer.rules.link_open = (tokens, i, ...rest) => {
        const title = tokens[i].attrs.find(([name]) => name === 'title')
        if (title && tokens[i].attrGet('href').includes('GLOSSARY')) {
          title[0] = 'data-term'
          tokens[i].attrPush(['aria-description', title[1]])
        }
        return open(tokens, i, ...rest)
      }
      // Lines of a program have GitHub's anchors, #L12, where the page shows no other.
      const fence = md.renderer.rules.fence
      md.renderer.rules.fence = (...given) => {
        const html = fence(...given)
        if (given[3].frontmatter?.pageClass !== 'source') return html
        return html.replace(/<span class="line-number">(\d+)</g, '<span class="line-number" id="L$1">$1<')
      }
    },
  },
  themeConfig: {
    siteTitle: site.title.split(',')[0],
    logo: { src: '/favicon.svg', alt: '' },
    sidebar: site.sidebar,
    nav: site.nav,
    exercises: site.exercises,
    outline: { level: [2, 3], label: 'On this page' },
    search: { provider: 'local', options: { detailedView: true, _render: searchable, miniSearch: { searchOptions: { boostDocument: glossaryFirst } } } },
    docFooter: { prev: 'Previous', next: 'Next' },
    externalLinkIcon: true,
  },
})
