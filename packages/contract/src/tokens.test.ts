import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  base62,
  crc32,
  type CredentialKind,
  credentialPrefixes,
  type IdKind,
  idPrefixes,
  idSchemaPattern,
  isCredential,
  isId,
  makeCredential,
  makeId,
} from './tokens.ts'

describe('crc32', () => {
  it('gives the check value of CRC-32/ISO-HDLC', () => {
    assert.equal(crc32('123456789').toString(16), 'cbf43926')
    assert.equal(crc32(''), 0)
  })
})

describe('credentials', () => {
  const kinds = Object.keys(credentialPrefixes) as CredentialKind[]

  it('a fresh one of each kind is of its kind and of no other', () => {
    for (const kind of kinds) {
      const credential = makeCredential(kind, randomBytes)
      for (const other of kinds) assert.equal(isCredential(other, credential), other === kind, `${credential} as ${other}`)
    }
  })

  it('every single mistyped character is caught', () => {
    const credential = makeCredential('secretKey', randomBytes)
    for (let at = 0; at < credential.length; at++) {
      for (const typo of base62) {
        if (typo === credential[at]) continue
        assert.equal(
          isCredential('secretKey', credential.slice(0, at) + typo + credential.slice(at + 1)),
          false,
          `${typo} at ${at}`,
        )
      }
    }
  })

  it('two neighbours swapped are caught', () => {
    const credential = makeCredential('summonKey', randomBytes)
    for (let at = 0; at + 1 < credential.length; at++) {
      const swapped = credential.slice(0, at) + credential[at + 1] + credential[at] + credential.slice(at + 2)
      if (swapped !== credential) assert.equal(isCredential('summonKey', swapped), false, `at ${at}`)
    }
  })

  it('a truncated, extended or padded one is refused', () => {
    const credential = makeCredential('adminToken', randomBytes)
    for (const text of ['', credential.slice(0, -1), `${credential}0`, ` ${credential}`, `${credential}\n`]) {
      assert.equal(isCredential('adminToken', text), false, JSON.stringify(text))
    }
  })

  it('characters are uniform: bytes that would favour some are thrown away', () => {
    // 65,348 is 17 × 62²: it and all above would make the first pairs likelier.
    const bytes = [0xff, 0xff, 0xff, 0x44, 0xff, 0x43, 0x00, 0x00]
    let at = 0
    const inTurn = (length: number) => Uint8Array.from({ length }, () => bytes[at++ % bytes.length]!)
    assert.equal(makeCredential('coupon', inTurn).slice(4, 12), 'zz00zz00')
  })
})

describe('ids', () => {
  it('a fresh one of each kind is of its kind, fits its schema, and is of no other kind', () => {
    const kinds = Object.keys(idPrefixes) as IdKind[]
    for (const kind of kinds) {
      const id = makeId(kind, randomBytes)
      assert.match(id, new RegExp(idSchemaPattern(kind)))
      for (const other of kinds) assert.equal(isId(other, id), other === kind)
      assert.equal(isId(kind, `${id}\n`), false)
    }
  })
})
