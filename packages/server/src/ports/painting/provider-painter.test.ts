import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { longestBlock } from '#testing/processor-block.ts'
import { usedBytes } from '#testing/used-bytes.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { Pictures } from '@atrium/media/pictures/pictures'
import { PaintError, type PaintErrorCode } from './paint-error.ts'
import { createProviderPainter, type ProviderName } from './provider-painter.ts'

const KEY = 'sk-test-do-not-show-5f1c9e'
const request = { prompt: 'a red square', width: 1536, height: 1024, seed: 4 }

type Answer = { status?: number; body?: unknown; raw?: Buffer | string; hang?: boolean }
type Asked = { url: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }

const pictures = new Pictures()
let server: Server
let base: string
let answer: Answer = {}
const asked: Asked[] = []

before(async () => {
  server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      asked.push({
        url: req.url ?? '',
        headers: req.headers,
        body: JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>,
      })
      if (answer.hang) return
      res.writeHead(answer.status ?? 200, { 'content-type': 'application/json' })
      res.end(answer.raw ?? JSON.stringify(answer.body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(async () => {
  await pictures.close()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

function painter(
  provider: ProviderName = 'openai',
  model = 'gpt-image-1',
  timeoutMs = 20_000,
  fetch = globalThis.fetch,
): ReturnType<typeof createProviderPainter> {
  return createProviderPainter({
    provider,
    model,
    apiKey: KEY,
    baseUrl: base,
    fetch,
    pictures,
    tenantId: 'ten_a',
    timeoutMs,
  })
}

async function square(format: 'png' | 'jpeg' | 'webp', side = 96): Promise<Buffer> {
  const image = sharp({ create: { width: side, height: side, channels: 3, background: '#d22' } }).withExif({
    IFD0: { Copyright: 'somebody' },
  })
  return image.toFormat(format).toBuffer()
}

const images = (bytes: Buffer): Answer => ({ body: { created: 1, data: [{ b64_json: bytes.toString('base64') }] } })

async function failure(given: Answer, model?: string): Promise<PaintError> {
  answer = given
  return painter('openai', model)
    .paint(request)
    .then(
      () => assert.fail('it painted'),
      (error: unknown) => {
        assert.ok(error instanceof PaintError, String(error))
        // The logged and returned error contains neither the key nor text of the provider.
        assert.doesNotMatch(
          `${JSON.stringify(error)}${error.message}${error.stack}${String(error.cause)}`,
          /sk-test|do-not-show|SECRET/,
        )
        return error
      },
    )
}

describe('painting with a provider', () => {
  it('sends prompt, model and key as OpenAI takes them, and a size the model makes', async () => {
    answer = images(await square('png'))
    asked.length = 0
    const painted = await painter().paint(request)
    assert.equal(painted.provider, 'openai')
    assert.equal(painted.model, 'gpt-image-1')
    assert.equal(painted.seed, 4)
    assert.match(painted.alt, /a red square/)
    assert.equal(asked.length, 1)
    assert.equal(asked[0]?.url, '/images/generations')
    assert.equal(asked[0]?.headers.authorization, `Bearer ${KEY}`)
    assert.deepEqual(
      { prompt: asked[0]?.body['prompt'], model: asked[0]?.body['model'], size: asked[0]?.body['size'] },
      { prompt: 'a red square', model: 'gpt-image-1', size: '1536x1024' },
    )
  })

  it('stores only the picture that a picture process has re-encoded', async (t) => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      answer = images(await square(format))
      const clean = t.mock.method(pictures, 'clean')
      const { bytes, mime, width, height } = await painter().paint(request)
      assert.equal(clean.mock.callCount(), 1)
      clean.mock.restore()
      const kept = await sharp(bytes).metadata()
      assert.deepEqual([mime, width, height], [`image/${kept.format}`, kept.width, kept.height])
      assert.deepEqual([kept.format, width, height, kept.exif], [format, 96, 96, undefined])
      const [red, green] = await sharp(bytes).raw().toBuffer()
      assert.ok((red ?? 0) > 190 && (green ?? 255) < 60)
    }
  })

  it('works over an OpenAI-compatible server and over Google', async () => {
    answer = images(await square('png'))
    assert.equal((await painter('openai-compatible', 'flux').paint(request)).provider, 'openai-compatible')
    assert.equal(asked.at(-1)?.body['size'], '1536x1024')
    const data = (await square('png')).toString('base64')
    answer = {
      body: {
        candidates: [
          {
            content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] },
            finishReason: 'STOP',
            index: 0,
          },
        ],
      },
    }
    assert.equal((await painter('google', 'gemini-2.5-flash-image').paint(request)).provider, 'google')
    assert.equal(asked.at(-1)?.headers['x-goog-api-key'], KEY)
    assert.match(JSON.stringify(asked.at(-1)?.body), /"aspectRatio":"3:2"/)
  })

  const said = (code: string): Answer['body'] => ({ error: { message: `SECRET ${KEY} is bad`, type: code, code } })
  const failures: Array<[string, Answer, PaintErrorCode]> = [
    ['the quota is used up', { status: 429, body: said('insufficient_quota') }, 'quota_exceeded'],
    ['a billing limit is reached', { status: 400, body: said('billing_hard_limit_reached') }, 'quota_exceeded'],
    [
      'too many requests come at once',
      { status: 429, body: said('rate_limit_exceeded; see your account/billing page') },
      'provider_unavailable',
    ],
    ['the prompt is not wanted', { status: 400, body: said('content_policy_violation') }, 'provider_refused'],
    ['the key is wrong', { status: 401, body: said('invalid_api_key') }, 'provider_refused'],
    ['the model is unknown', { status: 404, body: said('model_not_found') }, 'provider_refused'],
    ['its server fails', { status: 500, body: said('server_error') }, 'provider_unavailable'],
    ['its gateway fails', { status: 503, raw: '<html>SECRET</html>' }, 'provider_unavailable'],
    ['it answers with something that is not JSON', { raw: 'hello' }, 'bad_result'],
    ['it answers without a picture', { body: { created: 1, data: [] } }, 'bad_result'],
    ['the picture is text', { body: { data: [{ b64_json: Buffer.from('SECRET').toString('base64') }] } }, 'bad_result'],
    [
      'the picture is SVG',
      {
        body: {
          data: [
            { b64_json: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"/>').toString('base64') },
          ],
        },
      },
      'bad_result',
    ],
  ]
  for (const [when, given, code] of failures) {
    it(`says ${code} when ${when}, and never the key`, async () => {
      assert.equal((await failure(given)).code, code)
    })
  }

  it('describes the picture by its prompt, and cuts a long one between characters', async () => {
    answer = images(await square('png'))
    for (const before of ['', 'a']) {
      const { alt } = await painter().paint({ ...request, prompt: `${before}${'👩‍👩‍👧'.repeat(200)}` })
      assert.match(alt, /^Picture made by a model for the words: a?(👩‍👩‍👧){10,199}…$/u)
    }
  })

  it('opens a picture again whose process was killed, and asks for no second one', async (t) => {
    answer = images(await square('png'))
    asked.length = 0
    const clean = pictures.clean.bind(pictures)
    const cleaned = t.mock.method(pictures, 'clean', (...args: Parameters<typeof clean>) =>
      cleaned.mock.callCount() > 0 ? clean(...args) : Promise.reject(new PictureError('too_slow', 'The picture takes too long.')),
    )
    assert.equal((await painter().paint(request)).width, 96)
    assert.equal(asked.length, 1)
    cleaned.mock.mockImplementation(() => Promise.reject(new PictureError('too_slow', 'The picture takes too long.')))
    await assert.rejects(painter().paint(request), { code: 'bad_result' })
  })

  it('rejects a picture that is too small, truncated or far too large', async () => {
    assert.equal((await failure(images(await square('png', 20)))).code, 'bad_result')
    const whole = await sharp({ create: { width: 400, height: 400, channels: 3, background: '#123' } })
      .png()
      .toBuffer()
    assert.equal((await failure(images(whole.subarray(0, whole.length / 2)))).code, 'bad_result')
    assert.equal((await failure(images(await square('png', 5000)))).code, 'bad_result')
  })

  it('stops reading an answer that does not end', async () => {
    const error = await failure({ raw: Buffer.alloc(30 * 1024 * 1024, 0x20) })
    assert.equal(error.code, 'bad_result')
  })

  it('keeps none of the pieces in which an answer arrives', async () => {
    const text = Buffer.from(JSON.stringify({ data: [{ b64_json: 'A'.repeat(10_000) }] }))
    const sent: WeakRef<Buffer>[] = []
    let kept = 0
    const pieces = async function* () {
      for (const byte of text) {
        const piece = Buffer.alloc(1, byte)
        sent.push(new WeakRef(piece))
        yield piece
      }
      usedBytes()
      kept = sent.filter((piece) => piece.deref() !== undefined).length
    }
    const fetch = () => Promise.resolve(new Response(ReadableStream.from(pieces())))
    await assert.rejects(painter('openai', 'gpt-image-1', 60_000, fetch).paint(request), { code: 'bad_result' })
    assert.ok(kept < 100, `${kept} of ${sent.length} pieces are in memory`)
  })

  it('rejects an answer of a million entries without blocking the process', async () => {
    const list = (count: number) => Buffer.from(`{"data":[${'{},'.repeat(count)}{}]}`)
    for (const raw of [list(1_400_000), Buffer.alloc(4_000_000, '['), Buffer.from(`{"data":[${'1,'.repeat(8_000_000)}1]}`)]) {
      await failure({ raw: '{}' })
      const blockMs = await longestBlock(async () => assert.equal((await failure({ raw })).code, 'bad_result'))
      assert.ok(blockMs < 150, `it took ${blockMs.toFixed()} ms at once`)
    }
  })

  it('times out on a provider that does not answer, and fails on one that cannot be reached', async () => {
    answer = { hang: true }
    await assert.rejects(painter('openai', 'gpt-image-1', 200).paint(request), { code: 'provider_unavailable' })
    const nobody = createProviderPainter({
      provider: 'openai',
      model: 'gpt-image-1',
      apiKey: KEY,
      baseUrl: 'http://127.0.0.1:1',
      fetch: globalThis.fetch,
      pictures,
      tenantId: 'ten_a',
    })
    await assert.rejects(nobody.paint(request), { code: 'provider_unavailable' })
  })

  it('stops on an abort, with its reason', async () => {
    answer = { hang: true }
    const stop = new AbortController()
    const painting = painter().paint({ ...request, signal: stop.signal })
    stop.abort(new Error('enough'))
    await assert.rejects(painting, { message: 'enough' })
  })

  it('sends only one request, because a second one could be billed again', async () => {
    asked.length = 0
    await failure({ status: 500, body: said('server_error') })
    assert.equal(asked.length, 1)
  })
})
