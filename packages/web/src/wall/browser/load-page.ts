interface Page {
  items: HTMLCollection
  pages: Element
  empty: Element
}

const timeoutMs = 20_000

/**
 * Requests this page again and reads its list. XMLHttpRequest parses a document without running its scripts and
 * without turning text into markup, which the page's policy forbids.
 */
export function loadPage(): Promise<Page | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.open('GET', location.href)
    request.responseType = 'document'
    request.timeout = timeoutMs
    request.addEventListener('loadend', () => {
      const items = request.status === 200 ? request.responseXML?.getElementById('items')?.children : undefined
      const pages = request.responseXML?.getElementById('pages')
      const empty = request.responseXML?.getElementById('empty')
      resolve(items && pages && empty ? { items, pages, empty } : undefined)
    })
    request.send()
  })
}
