import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '#testing/processor-block.ts'
import { cutText } from './cut-text.ts'

const bytes = (text: string) => Buffer.byteLength(text)

test('a text that fits is left alone, down to the last byte', () => {
  assert.equal(cutText('ä'.repeat(50), 100), 'ä'.repeat(50))
  assert.notEqual(cutText('ä'.repeat(50), 99), 'ä'.repeat(50))
})

test('a cut text has at most so many bytes and says that it goes on', () => {
  for (const text of ['a'.repeat(500), 'ä'.repeat(500), '漢'.repeat(500), '😀'.repeat(500)]) {
    const cut = cutText(text, 101)
    assert.ok(bytes(cut) <= 101 && bytes(cut) > 90, `${bytes(cut)}`)
    assert.ok(cut.endsWith('…'))
    assert.equal(cut, cut.toWellFormed())
  }
})

test('a family, a flag or a skin tone is kept whole or left out', () => {
  for (const emoji of ['👨‍👩‍👧‍👦', '🇫🇷', '👍🏽', 'é']) {
    for (let max = 40; max < 80; max++) {
      const shown = cutText(emoji.repeat(60), max).slice(0, -1)
      assert.equal(shown.length % emoji.length, 0, `${emoji} at ${max}`)
    }
  }
})

test('it ends with a sentence where one ends in the second half', () => {
  assert.equal(
    cutText('The lamp is lit. The harbour is safe. Nobody knows what comes', 45),
    'The lamp is lit. The harbour is safe.…',
  )
  assert.equal(cutText(`Yes. ${'word '.repeat(50)}`, 60).startsWith('Yes. word word'), true)
})

test('one character longer than all the room, and a text of megabytes, are cut all the same', () => {
  const zalgo = `e${'\u0301'.repeat(5_000)}`
  assert.ok(bytes(cutText(zalgo, 100)) <= 100)
  const started = processorMs()
  assert.ok(bytes(cutText('No end. '.repeat(500_000), 16_384)) <= 16_384)
  assert.ok(processorMs() - started < 1_000)
})

test('lone surrogates do not get through', () => {
  assert.equal(cutText('a\ud83d', 100), 'a\ufffd')
  assert.equal(cutText('\ud83d'.repeat(100), 31).includes('\ud83d'), false)
})
