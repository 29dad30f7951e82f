// SPDX-License-Identifier: MIT
// A term's sentence from the glossary, beside a link to it: when the pointer is over the link, or the focus on it.

const MARGIN = 16 // px that stay free at the window's edges

/** Shows the sentences from now on, in one box for all links, until the Escape key is pressed. */
export function showTerms() {
  const box = document.createElement('div')
  box.className = 'term-box'
  box.hidden = true
  document.body.append(box)
  let over = null // the link under the pointer
  let focused = null
  const place = () => {
    const link = over ?? focused
    box.hidden = !link
    if (!link) return
    box.textContent = link.dataset.term
    const at = link.getClientRects()[0]
    const below = at.bottom + 4
    const fits = below + box.offsetHeight + MARGIN < innerHeight
    box.style.left = `${Math.max(MARGIN, Math.min(at.left, document.documentElement.clientWidth - MARGIN - box.offsetWidth))}px`
    box.style.top = `${fits ? below : at.top - box.offsetHeight - 4}px`
  }
  const term = ({ target }) => target.closest?.('a[data-term]') ?? null
  const on = (event, change) => addEventListener(event, (of) => (change(of), place()), { passive: true })
  on('pointerover', (event) => event.target !== box && (over = term(event)))
  on('focusin', (event) => (focused = term(event)))
  on('focusout', () => (focused = null))
  on('keydown', ({ key }) => key === 'Escape' && (over = focused = null))
  on('scroll', () => {})
}
