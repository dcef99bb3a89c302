import assert from 'node:assert/strict'
import { test } from 'node:test'
import { echoModel } from './echo-model.ts'
import type { Turn } from './model.ts'

const { signal } = new AbortController()

async function reply(...history: Turn[]): Promise<string> {
  return (await echoModel().reply({ instructions: '', history, tools: [], signal })).text
}

const ada = (text: string): Turn => ({ author: 'person', name: 'Ada', text })

test('it says what it is: at length once, in a word ever after', async () => {
  const first = await reply(ada('hello there'))
  assert.match(first, /^I am Atrium's built-in echo: no language model is configured/)
  assert.match(first, /\n\nEcho: Ada said “hello there” \(2 words\)$/)
  const second = await reply(ada('hello there'), { author: 'agent', text: first }, ada('again'))
  assert.equal(second, 'Echo: Ada said “again” (1 word)')
})

test('a greeting does not count as having said it, nor does a person who repeats it', async () => {
  const greeted = await reply({ author: 'agent', text: 'Welcome!' }, ada('hi'))
  assert.match(greeted, /built-in echo/)
  assert.match(await reply(ada(greeted), ada('hi')), /^I am Atrium's/)
})

test('help and reverse work, in any case, and an emoji stays whole', async () => {
  const introduced = { author: 'agent' as const, text: await reply() }
  assert.match(await reply(introduced, ada('HELP')), /no language model.*reverse/s)
  assert.equal(await reply(introduced, ada('reverse 👩‍🚀 abc')), 'Echo, backwards: “cba 👩‍🚀”')
})

test('it answers the newest person, not an agent, and always the same', async () => {
  const history = [ada('one two'), { author: 'other_agent' as const, name: 'Bot', text: 'beep' }]
  assert.match(await reply(...history), /Ada said “one two”/)
  assert.equal(await reply(...history), await reply(...history))
})

test('a message of 16 KiB is answered within 16 KiB, well-formed and without NUL', async () => {
  for (const text of ['漢字 '.repeat(2_340), `reverse ${'😀'.repeat(4_000)}`, 'a\0b\ud83d']) {
    const said = await reply(ada(text))
    assert.ok(Buffer.byteLength(said) <= 16_384)
    assert.equal(said.replaceAll('\0', '').toWellFormed(), said)
  }
})

test('an aborted request gets no answer', async () => {
  const reason = new Error('stopped')
  const request = { instructions: '', history: [], tools: [], signal: AbortSignal.abort(reason) }
  await assert.rejects(echoModel().reply(request), reason)
})
