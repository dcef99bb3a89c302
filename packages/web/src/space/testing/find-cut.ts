import type { Page } from 'playwright-core'

/** Elements that are wider than their place. Texts that are cut deliberately end with an ellipsis. */
export function findCut(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('html, .scroller, .sheet-body, button, .button, label, h1, h2, h3, p, li, select')]
      .filter((element) => element.checkVisibility() && !element.closest('.visually-hidden, .grouped .byline'))
      .filter((element) => !element.querySelector('.quote-text') && getComputedStyle(element).textOverflow !== 'ellipsis')
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
      .map(({ outerHTML, scrollWidth, clientWidth }) => `${scrollWidth} > ${clientWidth}: ${outerHTML.slice(0, 160)}`),
  )
}
