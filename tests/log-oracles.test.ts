import { cosign, ed25519PublicKey, signCheckpoint, witnessVerifier } from '@atrium/log/signing'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCheckpoint } from '@atrium/log/checkpoint'
import { cosignedMessage } from '@atrium/log/cosignature'
import { formatVerifier, makeVerifier, signatureTypes } from '@atrium/log/note'
import { formatProof } from '@atrium/log/proof'
import { makeEntries, StoredLog } from '@atrium/log/testing/stored-log'
import { Tree } from '@atrium/log/tree'
import { buildLogOracle, skipWithoutGo } from './support/log-oracle.ts'
import { skipWithout } from './support/skip-without.ts'

const seed = Buffer.alloc(32, 5)
const origin = 'atrium.example.com/log'
const logKey = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(seed))
const vkey = formatVerifier(logKey)

/** A folder as /log/ serves it, with older checkpoints and a proof beside it. */
async function writeLog(size: number, oldSize: number) {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-log-'))
  const log = new StoredLog()
  log.append(makeEntries(oldSize))
  const old = signCheckpoint({ origin, size: oldSize, root: log.root() }, seed)
  log.append(makeEntries(size - oldSize, oldSize))
  const checkpoint = signCheckpoint({ origin, size, root: log.root() }, seed)
  log.writeTo(folder)
  const index = Math.floor(size / 3)
  const hashes = await new Tree(size, log.read).inclusionProof(index)
  const entry = log.entries[index]!
  const files = { checkpoint, old, proof: formatProof({ index, hashes, checkpoint }), entry }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return { folder, log, ...files }
}

const oldAndNew: [number, number][] = [
  [1, 2],
  [2, 255],
  [255, 256],
  [256, 257],
  [300, 65_536],
  [65_537, 70_000],
]

test(
  "Go's sumdb accepts our checkpoints, tiles, entries and proofs, and refuses changed ones",
  { skip: skipWithoutGo },
  async () => {
    const run = await buildLogOracle()
    for (const [oldSize, size] of oldAndNew) {
      const { folder } = await writeLog(size, oldSize)
      const files = ['old', 'proof', 'entry'].flatMap((name) => [`-${name}`, join(folder, name)])
      const said = await run('-vkey', vkey, ...files, folder)
      assert.match(said, new RegExp(`^${size} entries are the leaves`))
      assert.match(said, new RegExp(`continues that of ${oldSize}\n`))
      assert.match(said, new RegExp(`is in the tree of ${size} leaves\n$`))
    }
    const { folder, log } = await writeLog(700, 300)
    const changes: [string, string | Buffer, string][] = [
      ['tile/0/001', Buffer.from(log.tiles.get('tile/0/001')!).fill(7, 32, 64), 'tiles: tile/0/001 is wrong'],
      ['tile/entries/000', Buffer.alloc(9), 'entries: '],
      ['old', signCheckpoint({ origin, size: 300, root: Buffer.alloc(32, 1) }, seed), 'consistency: '],
      ['checkpoint', signCheckpoint({ origin, size: 700, root: log.root() }, Buffer.alloc(32, 6)), 'checkpoint'],
      ['entry', 'another entry', 'inclusion proof'],
    ]
    for (const [name, content, refusal] of changes) {
      const copy = mkdtempSync(join(tmpdir(), 'atrium-log-'))
      cpSync(folder, copy, { recursive: true })
      writeFileSync(join(copy, name), content)
      const files = ['old', 'proof', 'entry'].flatMap((file) => [`-${file}`, join(copy, file)])
      await assert.rejects(run('-vkey', vkey, ...files, copy), new RegExp(refusal), name)
    }
  },
)

test('openssl verifies our checkpoint and a cosignature of it', { skip: skipWithout('openssl') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-log-'))
  const { note } = openCheckpoint(signCheckpoint({ origin, size: 7, root: Buffer.alloc(32, 3) }, seed), [logKey])
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), ed25519PublicKey(seed)])
  writeFileSync(join(folder, 'key.der'), spki)
  const isVerified = (message: string | Buffer, signature: Uint8Array) => {
    writeFileSync(join(folder, 'message'), message)
    writeFileSync(join(folder, 'signature'), signature)
    const args = '-verify -pubin -inkey key.der -keyform DER -rawin -in message -sigfile signature'
    try {
      return execFileSync('openssl', ['pkeyutl', ...args.split(' ')], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    } catch (err) {
      return (err as { stdout: string }).stdout
    }
  }
  assert.match(isVerified(note.text, note.signatures[0]!.signature), /Verified Successfully/)
  const { signature } = cosign(note.text, witnessVerifier('w.example.com', seed).name, seed, 1_700_000_000)
  const cosignature = signature.subarray(8)
  assert.match(isVerified(`cosignature/v1\ntime 1700000000\n${note.text}`, cosignature), /Verified Successfully/)
  assert.match(isVerified(Buffer.from(cosignedMessage(note.text, 1_700_000_000)), cosignature), /Verified Successfully/)
  assert.match(isVerified(`cosignature/v1\ntime 1700000001\n${note.text}`, cosignature), /Signature Verification Failure/)
})
