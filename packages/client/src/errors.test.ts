import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { errors } from '@atrium/contract/errors'
import { servedOperations } from '@atrium/contract/table'
import { AtriumError } from './atrium-error.ts'
import { createClient } from './create-client.ts'
import {
  errorClasses,
  InsufficientCreditError,
  InternalError,
  NetworkError,
  NotAuthorizedError,
  UnexpectedAnswerError,
} from './errors.ts'
import { followStream } from './follow-stream.ts'
import { readExport } from './read-export.ts'
import { errorAnswer, failureOf, startScriptedServer } from './testing/scripted-server.ts'

const server = await startScriptedServer()
after(() => server.stop())

const client = createClient({ baseUrl: server.origin, key: 'wpk_test', retries: 0 })
const failure = (call: Promise<unknown> = client.getTenant()) => failureOf(call)

describe('the class of an error', () => {
  test('each code of the contract has its own named class', async () => {
    const flat = servedOperations.flatMap((op) => Object.values(op.flatErrors ?? {}).map(({ error }) => error))
    const codes = [...new Set([...Object.keys(errors), ...flat])]
    assert.deepEqual([...codes, 'network_error', 'unexpected_answer'].sort(), Object.keys(errorClasses).sort())
    for (const code of codes) {
      server.script(errorAnswer(400, code))
      const error = await failure()
      const fitting = Object.values(errorClasses).filter((Class) => error instanceof Class)
      assert.deepEqual(fitting, [errorClasses[code as keyof typeof errorClasses]])
      assert.equal(error.name, fitting[0]!.name)
      assert.equal(error.code, code)
      assert.match(error.name, /^([A-Z][a-z]+)+Error$/)
    }
  })

  test('narrows the type of the code', () => {
    const error: AtriumError = new InsufficientCreditError({ status: 402, code: 'insufficient_credit', message: 'No.' })
    assert.ok(error instanceof InsufficientCreditError)
    const { code }: { code: 'insufficient_credit' } = error
    assert.equal(code, 'insufficient_credit')
    assert.equal(String(error), 'InsufficientCreditError: No.')
  })

  test('of an unknown code is AtriumError, also if the code is the name of an object property', async () => {
    for (const code of ['from_the_future', 'constructor', 'toString']) {
      server.script(errorAnswer(418, code))
      const error = await failure()
      assert.equal(error.constructor, AtriumError)
      assert.deepEqual([error.name, error.code, error.status], ['AtriumError', code, 418])
    }
  })
})

describe('an error', () => {
  test('carries status, code, message, request id, reason, details and Retry-After', async () => {
    const details = [{ path: '/type', message: 'must be a string' }]
    const body = { error: { code: 'not_authorized', message: 'No.', request_id: 'req_9', reason: 'unsigned', details } }
    server.script({ status: 403, headers: { 'retry-after': '7' }, body })
    const error = await failure(client.getItem({ id: 'col_1', itemId: 'itm_1' }))
    const { status, code, message, requestId, reason, retryAfterSeconds } = error
    assert.deepEqual(
      { status, code, message, requestId, reason, details: error.details, retryAfterSeconds },
      {
        status: 403,
        code: 'not_authorized',
        message: 'No.',
        requestId: 'req_9',
        reason: 'unsigned',
        details,
        retryAfterSeconds: 7,
      },
    )
  })

  test('of a proxy in between is UnexpectedAnswerError, with the request id of the header', async () => {
    server.script({ status: 502, body: '<html>', headers: { 'content-type': 'text/html', 'x-request-id': 'req_3' } })
    const error = await failure()
    assert.ok(error instanceof UnexpectedAnswerError)
    assert.deepEqual([error.status, error.requestId], [502, 'req_3'])
  })

  test('of broken JSON in a success is UnexpectedAnswerError', async () => {
    server.script({ body: '{"data":' })
    assert.ok((await failure()) instanceof UnexpectedAnswerError)
  })

  test('of JSON in another form is UnexpectedAnswerError', async () => {
    for (const body of ['null', '[]', '"a proxy"', '{}', '{"status":"ok"}']) {
      server.script({ body })
      const error = await failure()
      assert.ok(error instanceof UnexpectedAnswerError, body)
      assert.match(error.message, /is the base URL right\?/)
    }
  })

  test('of a page of a proxy in place of the answer is UnexpectedAnswerError', async () => {
    const page = { body: '<html>', headers: { 'content-type': 'text/html' } }
    server.script(page, page, page)
    const error = await failure()
    assert.ok(error instanceof UnexpectedAnswerError)
    assert.equal(error.message, 'The server answered 200 with text/html in place of JSON: is the base URL right?')
    const id = 'col_4fRzK0vXcB1mQwErTy7uPa'
    const reads = [followStream(client.streamWall, { id }), readExport(client.exportItems, { id, collectionToken: 'cat_x' })]
    for (const read of reads) assert.ok((await failureOf(read.next())) instanceof UnexpectedAnswerError)
  })

  test('that is flat gives its error as the code', async () => {
    server.script({ status: 403, body: { error: 'not_authorized', reason: 'not_on_list' } })
    const error = await failure()
    assert.ok(error instanceof NotAuthorizedError)
    assert.deepEqual([error.reason, error.message], ['not_on_list', 'not_authorized: not_on_list'])
  })

  test('of a server that does not answer or cannot be reached is NetworkError', async () => {
    server.script({ hang: true })
    const hasty = createClient({ baseUrl: server.origin, timeoutMs: 50, retries: 0 })
    const error = await failure(hasty.getTenant())
    assert.ok(error instanceof NetworkError)
    assert.match(error.message, /50 ms/)
    assert.equal(error.status, 0)
    const nowhere = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 })
    assert.ok((await failure(nowhere.getTenant())) instanceof NetworkError)
    // No timer holds more than 2^31 - 1 ms: it would fire at once.
    for (const timeoutMs of [Infinity, 2 ** 31]) {
      server.script({ body: { data: {} } })
      await createClient({ baseUrl: server.origin, timeoutMs, retries: 0 }).getTenant()
    }
    server.script({ cut: true })
    const cut = await failure(createClient({ baseUrl: server.origin, retries: 0 }).getTenant())
    assert.equal(cut.message, `${server.origin} could not be reached: other side closed`)
  })

  test('of a redirect is UnexpectedAnswerError: it is not followed, so tokens are not sent to another origin', async () => {
    server.script({ status: 301, headers: { location: `${server.origin}/elsewhere` } })
    const error = await failure(createClient({ baseUrl: server.origin, key: 'wsk_test' }).getTenant())
    assert.ok(error instanceof UnexpectedAnswerError)
    assert.match(error.message, /redirects \(301\).+is the base URL right\?/)
    assert.equal(server.seen.length, 1)
  })

  test('of the server itself is InternalError', async () => {
    server.script(errorAnswer(500, 'internal_error'))
    assert.ok((await failure()) instanceof InternalError)
  })
})
