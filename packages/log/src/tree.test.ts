import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertConsistency, assertInclusion, emptyRoot, hashLeaf } from './merkle.ts'
import { makeEntries, rootByDefinition, StoredLog } from './testing/stored-log.ts'
import { bundlePath, edgeTiles, parseTilePath, readHashes, tilePath, widthIn, appendLeaves, rootOfEdge } from './tiles.ts'
import { Tree } from './tree.ts'

const sizes = fc.oneof(fc.integer({ min: 1, max: 600 }), fc.constantFrom(255, 256, 257, 511, 512, 513, 1025))

function makeLog(...counts: number[]): StoredLog {
  const log = new StoredLog()
  for (const count of counts) log.append(makeEntries(count, log.size))
  return log
}

test('a log that grew in any steps has the root of the definition, and its tiles give the same root', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 5 }), async (counts) => {
      const log = makeLog(...counts)
      const root = rootByDefinition(log.entries)
      assert.deepEqual(log.root(), root)
      assert.deepEqual(await new Tree(log.size, log.read).root(), root)
    }),
    { numRuns: 40 },
  )
  assert.deepEqual(new StoredLog().root(), emptyRoot)
})

test('the inclusion proof of every leaf is right, and of no other leaf, tree or place', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), fc.nat(), async (size, at, bit) => {
      const log = makeLog(size)
      const index = at % size
      const proof = await new Tree(size, log.read).inclusionProof(index)
      const claim = { index, size, root: log.root(), leafHash: hashLeaf(log.entries[index]!), proof }
      assertInclusion(claim)
      const wrong = (change: Partial<typeof claim>) =>
        assert.throws(() => assertInclusion({ ...claim, ...change }), { name: 'LogError' })
      wrong({ leafHash: hashLeaf(Buffer.from('another')) })
      wrong({ root: hashLeaf(Buffer.from('another')) })
      wrong({ proof: [...proof, emptyRoot] })
      wrong({ index: size + (bit % 7) })
      if (proof.length === 0) return
      wrong({ proof: proof.slice(1) })
      wrong({ index: index === 0 ? size - 1 : 0 })
      const flipped = proof.map((hash) => Buffer.from(hash))
      flipped[bit % proof.length]![bit % 32]! ^= 1 << (bit % 8)
      wrong({ proof: flipped })
    }),
    { numRuns: 60 },
  )
})

test('any two sizes of a log are consistent; a fork and a shorter log are not', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, sizes, fc.nat(), async (a, b, seed) => {
      const [oldSize, size] = a < b ? [a, b] : [b, a]
      const old = { size: oldSize, root: rootByDefinition(makeEntries(oldSize)) }
      const log = makeLog(size)
      const now = { size, root: log.root() }
      const proof = await new Tree(size, log.read).consistencyProof(oldSize)
      assertConsistency(old, now, proof)
      const forkEntries = makeEntries(size)
      forkEntries[seed % oldSize] = Buffer.from('changed later')
      const fork = new StoredLog()
      fork.append(forkEntries)
      const forkProof = await new Tree(size, fork.read).consistencyProof(oldSize)
      const refused = (change: () => void) => assert.throws(change, { name: 'LogError' })
      refused(() => assertConsistency(old, { size, root: fork.root() }, forkProof))
      refused(() => assertConsistency(old, { size, root: fork.root() }, proof))
      refused(() => assertConsistency(old, now, [...proof, emptyRoot]))
      if (oldSize === size) return
      refused(() => assertConsistency(now, old, proof))
      if (proof.length > 0) refused(() => assertConsistency(old, now, proof.slice(1)))
    }),
    { numRuns: 60 },
  )
  const empty = { size: 0, root: emptyRoot }
  assertConsistency(empty, { size: 3, root: makeLog(3).root() }, [])
  assert.throws(() => assertConsistency({ size: 0, root: hashLeaf(emptyRoot) }, empty, []), { name: 'LogError' })
})

test('the edge can be read again at any size', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 0, max: 600 }), async (size, more) => {
      const log = makeLog(size)
      const edge = new Map()
      for (const id of edgeTiles(size)) edge.set(id.level, readHashes(await log.read(id), id.width))
      assert.deepEqual(rootOfEdge(edge), log.root())
      appendLeaves(edge, size, makeEntries(more, size).map(hashLeaf))
      assert.deepEqual(rootOfEdge(edge), rootByDefinition(makeEntries(size + more)))
    }),
    { numRuns: 30 },
  )
})

test('the tiles of a tree of 70,000 leaves are those of the specification', () => {
  const log = makeLog(70_000)
  const names = [...log.tiles.keys()]
  assert.equal(names.filter((name) => name.startsWith('tile/0/') && !name.includes('.p/')).length, 273)
  const partial = names.filter((name) => name.includes('.p/'))
  assert.deepEqual(partial.sort(), ['tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1'])
  assert.deepEqual(edgeTiles(70_000).map(tilePath), ['tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1'])
  assert.deepEqual(edgeTiles(256).map(tilePath), ['tile/1/000.p/1'])
  assert.deepEqual([widthIn(70_000, 0, 273), widthIn(70_000, 0, 274), widthIn(70_000, 1, 0)], [112, 0, 256])
})

test('each tile has one path', () => {
  assert.equal(tilePath({ level: 0, index: 1_234_067, width: 256 }), 'tile/0/x001/x234/067')
  assert.equal(bundlePath({ index: 0, width: 8 }), 'tile/entries/000.p/8')
  fc.assert(
    fc.property(fc.nat({ max: 63 }), fc.nat({ max: 1e9 }), fc.integer({ min: 1, max: 256 }), (level, index, width) => {
      assert.deepEqual(parseTilePath(tilePath({ level, index, width })), { level, index, width })
      assert.deepEqual(parseTilePath(bundlePath({ index, width })), { level: 'entries', index, width })
    }),
  )
  const wrong = ['tile/64/000', 'tile/00/000', 'tile/0/0', 'tile/0/x000/001', 'tile/0/000.p/0', 'tile/0/000.p/256']
  const tooWide = ['tile/0/000.p/257', 'tile/entries/000.p/257', 'tile/entries/000.p/999']
  const odd = ['tile/0/000.p/08', 'tile/0/001/002', 'tile/entries/0000', '/tile/0/000', 'tile/-1/000']
  for (const path of [...wrong, ...tooWide, ...odd]) {
    assert.equal(parseTilePath(path), undefined, path)
  }
})
