import type { Element as Written } from '../item-element.ts'

/** Creates the element that the server would have written. Text is always set as text. */
export function makeElement({ tag, attributes, children }: Written): HTMLElement {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children.map((child) => (typeof child === 'string' ? child : makeElement(child))))
  return made
}

/** The element of the page with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no #${id}`)
  return found
}
