import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proofContent, proofPayload, type ProvableRequest } from './proof.ts'

const who = { room: 'r', mk: 'k'.repeat(22), idToken: 'a.b.c', spk: { kty: 'EC' }, proof: 'x' }

test('a turn is signed by its message, in a fixed order of members', () => {
  const message = { client_id: 'c', text: 'hé', reply_to: 'e' }
  assert.equal(proofContent({ op: 'turn', ...who, message }), '{"text":"hé","reply_to":"e","client_id":"c"}')
  assert.equal(proofContent({ op: 'turn', ...who, message: { text: 'x' } }), '{"text":"x"}')
  assert.equal(
    proofContent({ op: 'turn', ...who, name: 'Ann', message }),
    '{"text":"hé","reply_to":"e","client_id":"c","name":"Ann"}',
  )
})

test('a poll is signed by the empty text', () => assert.equal(proofContent({ op: 'poll', ...who }), ''))

const changes: [ProvableRequest & Record<string, unknown>, string][] = [
  [{ op: 'admit', ...who, emails: ['b@x.example', 'a@x.example'] }, '{"emails":["b@x.example","a@x.example"]}'],
  [{ op: 'expel', ...who, agents: ['agt_1'], emails: ['é"@x'] }, '{"agents":["agt_1"],"emails":["é\\"@x"]}'],
  [{ op: 'rename', ...who, title: 't' }, '{"title":"t"}'],
  [{ op: 'remove', ...who }, '{}'],
  [
    { op: 'create', ...who, title: 't', policy: 'open', require_proof: true, allow: undefined },
    '{"policy":"open","require_proof":true,"title":"t"}',
  ],
]
for (const [request, text] of changes)
  test(`${request.op} is signed by its arguments, sorted, without key or identity`, () =>
    assert.equal(proofContent(request), text))

test('the payload names the op, the room, the second and the hash', () => {
  assert.equal(
    new TextDecoder().decode(proofPayload({ op: 'turn', room: 'r' }, 'ab', 1_999)),
    '{"op":"turn","room":"r","iat":1,"sha256":"ab"}',
  )
})
