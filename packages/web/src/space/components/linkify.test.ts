import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../../../../server/testing/processor-block.ts'
import { linkify } from './linkify.ts'

const hrefs = (text: string) => linkify(text).flatMap(({ href }) => href ?? [])

test('addresses become links, and no character is lost', () => {
  const text = 'See https://example.com/a?b=1#c, and (http://example.org/x_(y)). Bye https://example.net.'
  assert.deepEqual(hrefs(text), ['https://example.com/a?b=1#c', 'http://example.org/x_(y)', 'https://example.net/'])
  assert.equal(
    linkify(text)
      .map((part) => part.text)
      .join(''),
    text,
  )
})

test('nothing but http and https is a link, and none that names a user', () => {
  for (const text of [
    'javascript:canary()',
    'data:text/html,<script>canary()</script>',
    'vbscript:x file:///etc/passwd ftp://example.com',
    'https://bank.example@evil.example/',
    'https://user:secret@evil.example/',
    'https://',
    'http://%',
    'jhttps:/example.com',
  ])
    assert.deepEqual(hrefs(text), [], text)
})

test('a link ends where text begins that cannot be seen or turns around', () => {
  assert.deepEqual(hrefs('https://example.com/\u202egnp.exe'), ['https://example.com/'])
  assert.deepEqual(hrefs('https://exam\u200bple.com'), ['https://exam/'])
  assert.deepEqual(hrefs('https://example.com/"onmouseover="canary()'), ['https://example.com/'])
})

test('16 KiB of anything takes no time', () => {
  const started = processorMs()
  for (const piece of ['https://', '(', 'https://a.b/)', ')', 'http://x.', 'a.']) linkify(piece.repeat(16_384 / piece.length))
  linkify(`https://a.b/${')'.repeat(16_000)}`)
  assert.ok(processorMs() - started < 1_000)
})

test('a link shows the host that is asked for, whatever letters it was typed in', () => {
  const shown = (text: string) => linkify(text).map((part) => part.shown ?? part.text)
  assert.deepEqual(shown('https://аpple.com:8443/a?b#c'), ['https://xn--pple-43d.com:8443/a?b#c'])
  assert.deepEqual(shown('http://ｅxample.com'), ['http://example.com'])
  assert.deepEqual(shown('https://%65xample.com/'), ['https://example.com/'])
  assert.deepEqual(shown('https:////example.com'), ['https://example.com'])
  for (const text of ['https://münchen.de/ä', 'https://EXAMPLE.com', 'https://[::1]:80/', 'https://пример.рф'])
    assert.deepEqual(shown(text), [text])
})
