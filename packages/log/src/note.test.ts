import { encodeBase64 } from './base64.ts'
import { cosign, ed25519PublicKey, signCheckpoint, witnessVerifier, signNote } from './signing.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatAddCheckpoint, parseAddCheckpoint } from './add-checkpoint.ts'
import { decodeBundle, encodeBundle } from './bundle.ts'
import { openCheckpoint, parseCheckpoint } from './checkpoint.ts'
import { cosignedAt } from './cosignature.ts'
import { emptyRoot, hashLeaf } from './merkle.ts'
import {
  formatNote,
  formatSignature,
  formatVerifier,
  isSignedBy,
  makeVerifier,
  parseNote,
  parseVerifier,
  signatureTypes,
} from './note.ts'
import { formatProof, parseProof, verifyProof } from './proof.ts'
import { makeEntries, StoredLog } from './testing/stored-log.ts'
import { Tree } from './tree.ts'

const seed = Buffer.alloc(32, 1)
const origin = 'atrium.example.com/log'
const logKey = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(seed))
const refused = (run: () => unknown, message?: RegExp) =>
  assert.throws(run, { name: 'LogError', ...(message === undefined ? {} : { message }) })

test('the example of the specification: its key verifies its note, and no other text', () => {
  const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
  const signature =
    '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
  const note = `This is an example message.\n\n${signature}`
  assert.equal(formatVerifier(parseVerifier(vkey)), vkey)
  assert.equal(formatNote(parseNote(note)), note)
  assert.equal(isSignedBy(parseNote(note), parseVerifier(vkey)), true)
  assert.equal(isSignedBy(parseNote(note), logKey), false)
  refused(() => isSignedBy(parseNote(note.replace('message', 'massage')), parseVerifier(vkey)), /wrong/)
  refused(() => parseVerifier(vkey.replace('530d903a', '530d903b')), /key ID/)
})

test('notes with control characters, without signatures or with lines of another form are refused', () => {
  for (const note of ['', 'text\n', 'text\n\n', 'a\tb\n\n— a AAAAAAA=\n', 'a\n\n- a AAAAAAA=\n', 'a\n\n— a AAAAAAA=']) {
    refused(() => parseNote(note))
  }
  refused(() => parseNote('a\n\n— a AAAA AAAA\n'), /form/)
  refused(() => parseNote('a\n\n— a AAAAAAB=\n'), /base64/)
  refused(() => parseNote(`a\n\n${'— a AAAAAAA=\n'.repeat(65)}`), /more than 64/)
  for (const name of ['', 'a b', 'a+b', 'a\u2003b']) refused(() => makeVerifier(name, signatureTypes.note, seed))
})

test('a checkpoint is accepted from its log only', () => {
  const signed = signCheckpoint({ origin, size: 3, root: hashLeaf(seed) }, seed)
  assert.equal(openCheckpoint(signed, [logKey]).size, 3)
  const other = makeVerifier('other.example.com/log', signatureTypes.note, ed25519PublicKey(seed))
  refused(() => openCheckpoint(signed, [other]), /another log/)
  const newKey = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(Buffer.alloc(32, 2)))
  refused(() => openCheckpoint(signed, [newKey]), /not signed by its key/)
  assert.equal(openCheckpoint(signed, [newKey, logKey]).size, 3)
  refused(() => openCheckpoint(signed.replace('\n3\n', '\n4\n'), [newKey, logKey]), /wrong/)
  for (const text of [
    'a\n1\n',
    `a\n01\n${'A'.repeat(43)}=\n`,
    `\n1\n${'A'.repeat(43)}=\n`,
    `a\n1\n${'A'.repeat(43)}=`,
    'a\n1\nAAAA\n',
  ]) {
    refused(() => parseCheckpoint(text))
  }
  refused(() => parseCheckpoint(`a\n0\n${encodeBase64(hashLeaf(seed))}\n`), /empty tree/)
  assert.equal(parseCheckpoint(`a\n0\n${encodeBase64(emptyRoot)}\nextension\n`).size, 0)
})

test('a cosignature counts for its checkpoint, time and witness; a note signature is no cosignature', () => {
  const note = parseNote(signCheckpoint({ origin, size: 3, root: hashLeaf(seed) }, seed))
  const witness = witnessVerifier('witness.example.com/w1', seed)
  assert.equal(cosignedAt(note, witness), undefined)
  const line = cosign(note.text, witness.name, seed, 1_700_000_000)
  assert.equal(cosignedAt({ ...note, signatures: [...note.signatures, line] }, witness), 1_700_000_000)
  refused(() => cosignedAt({ text: note.text.replace('\n3\n', '\n4\n'), signatures: [line] }, witness))
  const later = Buffer.from(line.signature)
  later.writeBigUInt64BE(1_700_000_001n)
  refused(() => cosignedAt({ ...note, signatures: [{ ...line, signature: later }] }, witness))
  const plain = { ...signNote(note.text, witness.name, seed), keyId: witness.keyId }
  refused(() => cosignedAt({ ...note, signatures: [plain] }, witness))
  assert.equal(parseNote(`a\n\n${formatSignature(line)}`).signatures.length, 1)
})

test('a proof file proves its entry, and only that', async () => {
  const log = new StoredLog()
  log.append(makeEntries(300))
  const checkpoint = signCheckpoint({ origin, size: 300, root: log.root() }, seed)
  const proof = { index: 7, hashes: await new Tree(300, log.read).inclusionProof(7), checkpoint }
  const text = formatProof(proof)
  assert.deepEqual(parseProof(text), proof)
  assert.equal(verifyProof(text, log.entries[7]!, [logKey]).size, 300)
  refused(() => verifyProof(text, log.entries[8]!, [logKey]), /does not lead/)
  refused(() => verifyProof(text.replace('index 7', 'index 6'), log.entries[7]!, [logKey]))
  refused(() => parseProof(text.replace('@v1', '@v2')))
  refused(() => parseProof(text.replace('index 7', 'index 07')), /decimal/)
  assert.deepEqual(parseProof(formatProof({ ...proof, extra: seed })).extra, new Uint8Array(seed))
})

test('what a witness is asked is read as it was written', async () => {
  const log = new StoredLog()
  log.append(makeEntries(9))
  const checkpoint = signCheckpoint({ origin, size: 9, root: log.root() }, seed)
  const asked = { oldSize: 4, proof: await new Tree(9, log.read).consistencyProof(4), checkpoint }
  assert.deepEqual(parseAddCheckpoint(formatAddCheckpoint(asked)), asked)
  for (const body of ['', 'old 4\n', 'old -1\n\nx', 'new 4\n\nx', 'old 4\nabc\n\nx']) refused(() => parseAddCheckpoint(body))
  refused(
    () => parseAddCheckpoint(formatAddCheckpoint({ ...asked, proof: Array.from({ length: 64 }, () => emptyRoot) })),
    /too long/,
  )
})

test('bundles are read as they were written, and never beyond their end', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), fc.nat(), (entries, cut) => {
      const bundle = encodeBundle(entries)
      assert.deepEqual(
        decodeBundle(bundle, entries.length).map((entry) => new Uint8Array(entry)),
        entries,
      )
      if (bundle.length > 0) refused(() => decodeBundle(bundle.subarray(0, cut % bundle.length), entries.length))
    }),
  )
  refused(() => encodeBundle([Buffer.alloc(65_536)]), /too long/)
})

test('no text makes a reader fail in another way than by refusing it', () => {
  const readers = [parseNote, parseProof, parseAddCheckpoint, parseVerifier, parseCheckpoint]
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('—', ' ', '\n', 'A', '=', '+', '0') })),
      (text) => {
        for (const read of readers) {
          try {
            read(text)
          } catch (err) {
            assert.equal((err as Error).name, 'LogError')
          }
        }
      },
    ),
    { numRuns: 300 },
  )
})
