import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as browser from './crypto-browser.ts'
import * as node from './crypto-node.ts'
import { ed25519PublicKey, signEd25519 } from './signing.ts'

test('a browser computes the same hashes, and accepts and refuses the same signatures', () => {
  for (let size = 0; size < 200; size += 7) {
    const [first, second] = [randomBytes(size), randomBytes(64)]
    assert.deepEqual(browser.sha256(first, second), node.sha256(first, second))
    const seed = randomBytes(32)
    const key = ed25519PublicKey(seed)
    const signature = signEd25519(seed, first)
    const altered = Buffer.from(signature)
    altered[size % 64]! ^= 1
    for (const [bytes, message, isRight] of [
      [signature, first, true],
      [altered, first, false],
      [signature, second, false],
      [signature.subarray(1), first, false],
      [Buffer.concat([signature, Buffer.of(0)]), first, false],
    ] as const)
      for (const { verifyEd25519 } of [browser, node]) assert.equal(verifyEd25519(key, message, bytes), isRight)
    assert.equal(browser.verifyEd25519(Buffer.alloc(32, 0xff), first, signature), false)
  }
})
