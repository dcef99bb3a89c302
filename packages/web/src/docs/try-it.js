/**
 * A form that sends one operation to this server. Key and token stay in the session storage of this tab. Answers are
 * shown as text.
 */

/**
 * @typedef {object} Tryable
 * @property {string} method
 * @property {string} path
 * @property {boolean} key Whether the operation needs a publishable key.
 * @property {'owner' | 'contributor' | 'optional'} [token]
 * @property {string[]} params
 * @property {string[]} query
 * @property {boolean} [idempotency]
 * @property {boolean} [stream] Whether the answer is shown as it arrives.
 * @property {unknown} [body]
 */

const shownBytes = 100_000
let forms = 0

/** @param {Tryable} op @param {string} title @param {string | undefined} developmentKey */
export function addForm(op, title, developmentKey) {
  const form = document.createElement('form')
  form.className = 'trial'
  form.noValidate = true
  const name = `trial-${(forms += 1)}`
  form.setAttribute('aria-label', `Try it: ${title}`)
  const key = op.key ? field(form, name, 'Publishable key', stored('atrium-docs-key') ?? developmentKey ?? '') : undefined
  const token = op.token ? field(form, name, 'Collection token', stored('atrium-docs-token') ?? '') : undefined
  const params = op.params.map((one) => ({
    one,
    input: field(form, name, one, one === 'id' ? (stored('atrium-docs-id') ?? '') : ''),
  }))
  const query = op.query.map((one) => ({ one, input: field(form, name, one, '') }))
  const body = op.body === undefined ? undefined : area(form, name, JSON.stringify(op.body, null, 2))
  const send = document.createElement('button')
  send.className = 'primary'
  send.textContent = op.stream ? 'Connect' : op.method === 'GET' ? 'Send' : `Send ${op.method}`
  const stop = document.createElement('button')
  stop.type = 'button'
  stop.textContent = 'Stop'
  stop.hidden = true
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  const output = document.createElement('pre')
  output.tabIndex = 0
  output.hidden = true
  output.setAttribute('aria-label', 'Answer')
  form.append(send, ...(op.stream ? [stop] : []), status, output)

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (key) store('atrium-docs-key', key.value)
    if (token) store('atrium-docs-token', token.value)
    for (const { one, input } of params) if (one === 'id' && input.value) store('atrium-docs-id', input.value)
    if (key?.value.trim().startsWith('wsk_')) {
      status.textContent =
        'This is a secret key. It does not belong in a browser and was not sent. Use a publishable key (wpk_…).'
      return
    }
    const missing = params.find(({ input }) => /^\.{0,2}$/.test(input.value.trim()))
    if (missing) {
      status.textContent = `Fill in ${missing.one}.`
      missing.input.focus()
      return
    }
    const path = params.reduce(
      (text, { one, input }) => text.replace(`{${one}}`, encodeURIComponent(input.value.trim())),
      op.path,
    )
    const search = new URLSearchParams(query.flatMap(({ one, input }) => (input.value ? [[one, input.value]] : [])))
    /** @type {Record<string, string>} */
    const headers = {}
    if (key?.value) headers['authorization'] = `Bearer ${key.value.trim()}`
    if (token?.value) headers['x-collection-token'] = token.value.trim()
    if (op.idempotency) headers['idempotency-key'] = randomKey()
    if (body) headers['content-type'] = 'application/json'
    const answered = op.stream ? follow : run
    void answered(search.size > 0 ? `${path}?${search}` : path, {
      method: op.method,
      headers,
      ...(body ? { body: body.value } : {}),
    })
  })

  /** @param {string} url @param {RequestInit} init */
  async function run(url, init) {
    send.disabled = true
    status.textContent = 'Sending…'
    const begun = performance.now()
    try {
      const res = await fetch(url, { ...init, credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(30_000) })
      status.textContent = statusLine(res, begun)
      await showWhole(res)
    } catch (error) {
      status.textContent = `No answer: ${error instanceof Error ? error.message : 'the request failed'}`
      output.hidden = true
    } finally {
      send.disabled = false
    }
  }

  /** @param {Response} res */
  async function showWhole(res) {
    const type = res.headers.get('content-type') ?? ''
    const isText = /json|^text\//.test(type)
    const text = isText ? pretty(await res.text()) : `${type}, ${(await res.arrayBuffer()).byteLength} bytes`
    output.textContent = text
    output.hidden = text === ''
  }

  /** Shows the answer as it arrives, until it ends or is stopped. @param {string} url @param {RequestInit} init */
  async function follow(url, init) {
    const connection = new AbortController()
    const end = () => connection.abort()
    stop.addEventListener('click', end)
    send.disabled = true
    stop.hidden = false
    status.textContent = 'Connecting…'
    output.textContent = ''
    const begun = performance.now()
    try {
      const res = await fetch(url, { ...init, credentials: 'omit', cache: 'no-store', signal: connection.signal })
      status.textContent = statusLine(res, begun)
      if (!res.ok || !res.body) return await showWhole(res)
      status.textContent += '. What arrives is shown below.'
      output.hidden = false
      for await (const text of texts(res.body)) show(text)
      status.textContent = 'The server ended the answer.'
    } catch (error) {
      const why = error instanceof Error ? error.message : 'the request failed'
      status.textContent = connection.signal.aborted ? 'Stopped.' : `The connection broke: ${why}`
    } finally {
      stop.removeEventListener('click', end)
      send.disabled = false
      // The focus would be lost with the button.
      if (document.activeElement === stop) send.focus()
      stop.hidden = true
    }
  }

  /** The newest message stays in view, unless the reader has scrolled up. @param {string} text */
  function show(text) {
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 40
    output.textContent = ((output.textContent ?? '') + text).slice(-shownBytes)
    if (atEnd) output.scrollTop = output.scrollHeight
  }
  return form
}

/** @param {Response} res @param {number} begun */
function statusLine(res, begun) {
  const request = res.headers.get('x-request-id')
  return `${res.status} in ${Math.round(performance.now() - begun)} ms${request ? `, request ${request}` : ''}`
}

/** @param {ReadableStream<Uint8Array>} body */
async function* texts(body) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield decoder.decode(part.value, { stream: true })
}

/** @param {string} text */
function pretty(text) {
  const shown = text.length > shownBytes ? `${text.slice(0, shownBytes)}…` : text
  try {
    return JSON.stringify(JSON.parse(shown), null, 2)
  } catch {
    return shown
  }
}

/** An address without https has no randomUUID. */
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** @param {HTMLFormElement} form @param {string} name @param {string} title @param {string} value */
function field(form, name, title, value) {
  const input = document.createElement('input')
  input.value = value
  input.autocomplete = 'off'
  input.spellcheck = false
  label(form, `${name}-${title.replaceAll(' ', '-')}`, title, input)
  return input
}

/** @param {HTMLFormElement} form @param {string} name @param {string} value */
function area(form, name, value) {
  const input = document.createElement('textarea')
  input.value = value
  input.rows = Math.min(16, value.split('\n').length + 1)
  input.spellcheck = false
  label(form, `${name}-body`, 'Body', input)
  return input
}

/** @param {HTMLFormElement} form @param {string} id @param {string} title @param {HTMLElement} input */
function label(form, id, title, input) {
  const made = document.createElement('label')
  made.htmlFor = id
  made.textContent = title
  input.id = id
  form.append(made, input)
}

/** @param {string} name */
function stored(name) {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/** @param {string} name @param {string} value */
function store(name, value) {
  try {
    // A secret key must not stay anywhere in a browser.
    if (!value.trim().startsWith('wsk_')) sessionStorage.setItem(name, value)
  } catch {
    // Storage can be switched off. The form still works, but keeps nothing.
  }
}
