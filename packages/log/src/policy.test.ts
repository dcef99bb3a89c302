import { cosign, ed25519PublicKey, signCheckpoint, witnessVerifier } from './signing.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashLeaf } from './merkle.ts'
import { formatVerifier, makeVerifier, parseNote, signatureTypes } from './note.ts'
import { judge, parsePolicy } from './policy.ts'

const seeds = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte))
const names = ['X1', 'X2', 'X3', 'Y1']
const vkeys = seeds.map((seed, i) => formatVerifier(witnessVerifier(`${names[i]}.example.com`, seed)))
const logKey = formatVerifier(makeVerifier('a.example.com/log', signatureTypes.note, ed25519PublicKey(Buffer.alloc(32, 9))))
const witnesses = vkeys.map((vkey, i) => `witness ${names[i]} ${vkey} http://127.0.0.1:${i}/`).join('\n')

const note = parseNote(signCheckpoint({ origin: 'a.example.com/log', size: 1, root: hashLeaf(Buffer.of()) }, Buffer.alloc(32, 9)))
const cosignedBy = (...indexes: number[]) => ({
  ...note,
  signatures: [...note.signatures, ...indexes.map((i) => cosign(note.text, `${names[i]}.example.com`, seeds[i]!, 1))],
})

test('a quorum of groups: two of three and the other', () => {
  const policy = parsePolicy(`# ours\nlog ${logKey}\n${witnesses}\n group X 2\tX1 X2 X3\ngroup both all X Y1\nquorum both\n`)
  assert.equal(policy.witnesses[1]?.url, 'http://127.0.0.1:1/')
  const cases: [number[], boolean][] = [
    [[], false],
    [[0, 1], false],
    [[0, 3], false],
    [[0, 0, 3], false],
    [[0, 2, 3], true],
    [[0, 1, 2, 3], true],
  ]
  for (const [cosigners, expected] of cases) {
    assert.equal(judge(cosignedBy(...cosigners), policy).isWitnessed, expected, String(cosigners))
  }
  assert.deepEqual(judge(cosignedBy(2), policy).cosigners, ['X3'])
})

test('a wrong cosignature does not count, and does not spoil the others', () => {
  const policy = parsePolicy(`${witnesses}\nquorum Y1\n`)
  const good = cosignedBy(3)
  const forged = { ...cosign('other\n', 'X1.example.com', seeds[0]!, 1) }
  const verdict = judge({ ...good, signatures: [...good.signatures, forged] }, policy)
  assert.deepEqual(verdict, { isWitnessed: true, cosigners: ['Y1'] })
})

test('a policy that is wrong is refused with its line', () => {
  const wrong: [string, RegExp][] = [
    [`${witnesses}\n`, /no quorum/],
    ['quorum none\nquorum none\n', /line 2 .*above/],
    ['quorum X1\n', /line 1 .*not defined/],
    [`witness A ${vkeys[0]}\nwitness B ${vkeys[0]}\nquorum A\n`, /line 2 .*twice/],
    [`witness A ${vkeys[0]}\nwitness A ${vkeys[1]}\nquorum A\n`, /line 2 .*taken/],
    [`witness none ${vkeys[0]}\nquorum none\n`, /taken/],
    [`log ${vkeys[0]}\nquorum none\n`, /another use/],
    [`witness A ${logKey}\nquorum none\n`, /another use/],
    [`${witnesses}\ngroup G 4 X1 X2 X3\nquorum G\n`, /cannot need 4/],
    [`${witnesses}\ngroup G 0 X1\nquorum G\n`, /cannot need 0/],
    [`${witnesses}\ngroup G any X1 X1\nquorum G\n`, /member twice/],
    [`${witnesses}\ngroup G any X1\ngroup H any G X1\nquorum H\n`, /member twice/],
    [`${witnesses}\ngroup G any G\nquorum G\n`, /not defined/],
    ['policy none\n', /begins with "policy"/],
    ['quorum none\r\n', /control/],
  ]
  for (const [text, message] of wrong) assert.throws(() => parsePolicy(text), { name: 'LogError', message })
  assert.equal(judge(note, parsePolicy('quorum none\n')).isWitnessed, true)
})
