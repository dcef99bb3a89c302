import { errorCodesOf } from '@atrium/contract/error-codes'
import { errors, type ErrorCode } from '@atrium/contract/errors'
import { jsonOf, schemaJson, type Json } from '@atrium/contract/openapi-schemas'
import type { AnswerSpec, Operation } from '@atrium/contract/operation'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { TObject } from 'typebox'
import { codeBlock, highlight } from '../highlight.ts'
import { field, propertyList } from './property-list.ts'
import { sampleLanguages, samplesOf, servedPath, valueOf, type SampleSettings } from './samples.ts'
import { inlineHtml, paragraphs } from './text.ts'

/** One operation: what it does and takes on the left, code on the right. */
export function operationSection(op: Operation, settings: SampleSettings): string {
  return (
    `<section class="operation" id="${op.id}" aria-labelledby="${op.id}-title"${tryable(op)}>` +
    `<div class="about"><h2 id="${op.id}-title"><a href="#${op.id}">${escapeHtml(op.summary)}</a>${badge(op)}</h2>` +
    `<p class="route"><span class="method ${op.method.toLowerCase()}">${op.method}</span> <code>${escapeHtml(servedPath(op))}</code></p>` +
    `${paragraphs(op.description)}${rules(op)}` +
    `${parameters('Path', op.params)}${parameters('Query', op.query)}${parameters('Headers', op.headers)}${body(op)}` +
    `${answers(op)}${refusals(op)}</div><div class="examples">${examples(op, settings)}</div></section>`
  )
}

export function badge({ status }: Operation): string {
  if (status === 'live') return ''
  return ` <span class="badge">${status === 'legacy' ? 'without /v1' : 'not built yet'}</span>`
}

const callers: Record<Operation['caller'], string> = {
  secret: 'A secret key (<code>wsk_…</code>), from a server.',
  publishable: 'A publishable key (<code>wpk_…</code>), also from a browser, or a secret key.',
  operator: 'The operator of the installation, with <code>X-Admin-Token</code>.',
  control: 'The control token of the session (<code>sct_…</code>) as a bearer token.',
  anyone: 'Anyone, without a key.',
}

const capabilities: Record<NonNullable<Operation['capability']>, string> = {
  owner: 'The admin token of the collection in <code>X-Collection-Token</code>.',
  contributor:
    'The contributor or admin token in <code>X-Collection-Token</code>, if the <code>contributor_policy</code> of the collection is <code>token</code>.',
  optional: 'Optional. The answer contains more with the admin token in <code>X-Collection-Token</code>.',
}

function sessionOf({ roles = [] }: Operation): string {
  return `A session of the console, with the role ${roles.join(' or ')}.`
}

function rules(op: Operation): string {
  const repeat =
    op.idempotency === 'required'
      ? '<a href="/docs/guides/idempotency">Idempotency-Key</a> is required.'
      : op.idempotency === 'accepted'
        ? '<a href="/docs/guides/idempotency">Idempotency-Key</a> is accepted: a retry with the same key returns the first answer.'
        : undefined
  const said = [
    ['Who may call', op.sessionOnly ? `${sessionOf(op)} No key may call it.` : callers[op.caller]],
    ...(op.capability ? [['Collection token', capabilities[op.capability]]] : []),
    ...(op.role ? [['Role', 'The tenant must hold the issuer role.']] : []),
    ...(repeat ? [['Repeats', repeat]] : []),
    ...(op.status === 'legacy' ? [['Address', 'Served at the origin of the API. Under <code>/v1</code> it is 404.']] : []),
  ]
  return `<dl class="rules">${said.map(([name, text]) => `<div><dt>${name}</dt><dd>${text}</dd></div>`).join('')}</dl>`
}

function parameters(title: string, object: TObject | undefined): string {
  if (!object) return ''
  const required = new Set<string>(object.required)
  const fields = Object.entries(object.properties).map(([name, schema]) =>
    field({ name, schema: schemaJson(schema), required: required.has(name) }),
  )
  return `<h3>${title}</h3><dl class="fields">${fields.join('')}</dl>`
}

function body({ body }: Operation): string {
  if (!body) return ''
  const list = propertyList(schemaJson(body))
  return `<h3>Body</h3>${list || '<p>Any JSON.</p>'}`
}

function answers(op: Operation): string {
  const parts = Object.entries(op.answers).map(([status, answer]) => {
    const list = answer.data && !answer.raw ? propertyList(schemaJson(answer.data)) : ''
    const inside = list ? `<details><summary>Properties of <code>data</code></summary>${list}</details>` : ''
    return `<div class="field"><dt><code>${status}</code> <span class="type">${kindOf(answer)}</span></dt><dd><p>${inlineHtml(answer.description)}${notes(answer)}</p>${inside}</dd></div>`
  })
  return `<h3>Answers</h3><dl class="fields">${parts.join('')}</dl>`
}

function kindOf({ data, raw }: AnswerSpec): string {
  return raw ? escapeHtml(raw) : data ? 'application/json' : 'no body'
}

function notes({ paged, oneTimeSecret, maxAgeSeconds }: AnswerSpec): string {
  return [
    paged ? ' A list that continues has <code>meta.next_cursor</code>.' : '',
    oneTimeSecret ? ' The answer contains a secret that is returned once.' : '',
    maxAgeSeconds ? ` Shared caches may keep it for ${maxAgeSeconds} seconds.` : '',
  ].join('')
}

/** Codes of nearly every operation. They are listed separately, so that the specific ones stand out. */
export const commonErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'unauthorized',
  'tenant_suspended',
  'secret_key_in_browser',
  'request_timeout',
  'headers_too_large',
  'payload_too_large',
  'rate_limited',
  'internal_error',
  'unavailable',
])

function refusals(op: Operation): string {
  if (op.flatErrors) {
    const parts = Object.entries(op.flatErrors).map(
      ([status, { description, error, reasons }]) =>
        `<div class="field"><dt><code>${escapeHtml(error)}</code> <span class="type">${status}</span></dt><dd><p>${inlineHtml(description)}</p>` +
        `${reasons ? `<p class="limits">reason: ${reasons.map((reason) => `<code>${escapeHtml(reason)}</code>`).join(', ')}</p>` : ''}</dd></div>`,
    )
    return `<h3>Errors</h3><dl class="fields errors">${parts.join('')}</dl>`
  }
  const codes = errorCodesOf(op).toSorted((a, b) => errors[a].status - errors[b].status)
  const [own, shared] = [codes.filter((code) => !commonErrors.has(code)), codes.filter((code) => commonErrors.has(code))]
  return (
    `<h3>Errors</h3>${own.length > 0 ? errorList(own) : ''}` +
    `<details><summary>${shared.length} errors that most operations have</summary>${errorList(shared)}</details>`
  )
}

function errorList(codes: readonly ErrorCode[]): string {
  const parts = codes.map(
    (code) =>
      `<div class="field"><dt><a href="/docs/errors/${code}"><code>${code}</code></a> <span class="type">${errors[code].status}</span></dt><dd><p>${inlineHtml(errors[code].cause)}</p></dd></div>`,
  )
  return `<dl class="fields errors">${parts.join('')}</dl>`
}

function examples(op: Operation, settings: SampleSettings): string {
  const samples = samplesOf(op, settings)
  const call = samples
    ? `<fieldset class="code samples"><legend class="hidden">Example of ${escapeHtml(op.summary)}</legend><div class="bar">` +
      sampleLanguages
        .map(
          ({ id, title }, at) =>
            `<label><input type="radio" name="${op.id}-language" value="${id}"${at === 0 ? ' checked' : ''}>${title}</label>`,
        )
        .join('') +
      `</div>${sampleLanguages
        .map(
          ({ id, title, highlight: language }) =>
            `<pre class="${id}" tabindex="0" role="group" aria-label="${title}"><code>${highlight(samples[id], language)}</code></pre>`,
        )
        .join('')}</fieldset>`
    : ''
  return call + answerExample(op) + notTried(op)
}

function answerExample(op: Operation): string {
  const said = jsonOf(op.example?.data)
  const entries = Object.entries(op.answers)
  const [status, answer] = entries.findLast(([, one]) => one.data !== undefined) ?? entries[0] ?? []
  if (!status || !answer) return ''
  if (said === undefined) return answer.data ? '' : `<p class="no-body">${status}, without a body</p>`
  if (answer.raw === 'text/event-stream' && typeof said === 'string') return codeBlock(said, 'text', `Answer ${status}`)
  const whole = answer.raw ? said : { data: said, ...(answer.paged ? { meta: { next_cursor: 'eyJ2…' } } : {}) }
  return codeBlock(JSON.stringify(whole, null, 2), 'json', `Answer ${status}`)
}

/** Why an operation has no form for sending it. The page has no form for secrets that must not be in a browser. */
const notFromBrowser: Partial<Record<Operation['caller'], string>> = {
  secret:
    'Try this one in a terminal: it needs a secret key, which belongs on your server. A page of the documentation does not ask for one.',
  operator:
    'Try this one in a terminal on the server: it needs the admin token of the installation. A page of the documentation does not ask for it.',
  control: 'Try this one in a terminal while a session runs: it needs the control token that the launch of the session returned.',
}

function notTried(op: Operation): string {
  const why = whyNotTried(op)
  return why === undefined ? '' : `<p class="not-tried">${why}</p>`
}

function whyNotTried(op: Operation): string | undefined {
  if (op.status === 'proposed') return 'This operation is not built yet, so it cannot be tried.'
  if (op.sessionOnly) return 'Do this one in the console: with a key, the call is refused.'
  return notFromBrowser[op.caller]
}

/** Operations whose answers are streams. */
const streamed = new Set(['text/event-stream', 'application/x-ndjson'])

/** The data from which the form for sending an operation is built. */
function tryable(op: Operation): string {
  if (whyNotTried(op) !== undefined) return ''
  const names = (object: TObject | undefined): [string, Json][] =>
    Object.entries(object?.properties ?? {}).map(([name, schema]) => [name, valueOf(name, schemaJson(schema))])
  const form = {
    method: op.method,
    path: servedPath(op),
    key: op.caller === 'publishable',
    ...(op.capability ? { token: op.capability } : {}),
    params: names(op.params).map(([name]) => name),
    query: names(op.query).map(([name]) => name),
    ...(op.idempotency ? { idempotency: true } : {}),
    ...(Object.values(op.answers).some(({ raw }) => raw && streamed.has(raw)) ? { stream: true } : {}),
    ...(op.body ? { body: op.example?.body ?? {} } : {}),
  }
  return ` data-try="${escapeHtml(JSON.stringify(form))}"`
}
