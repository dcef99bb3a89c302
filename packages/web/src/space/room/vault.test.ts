import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { Vault } from './vault.ts'

/** What the vault uses of the storage of a browser: its keys are those of an object. */
class Storage {
  getItem(key: string): string | null {
    return Object.getOwnPropertyDescriptor(this, key)?.value ?? null
  }
  setItem(key: string, value: string): void {
    Object.assign(this, { [key]: value })
  }
  removeItem(key: string): void {
    Reflect.deleteProperty(this, key)
  }
}

let storage: Storage
beforeEach(() => {
  storage = new Storage()
  // The page of a service, and not a file.
  Object.defineProperty(globalThis, 'document', { value: { documentElement: { dataset: {} } }, configurable: true })
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
})

const [mk, otherMk] = ['k'.repeat(43), 'x'.repeat(43)]
const room = 'lantern'

test('rooms of one name have drafts and unsent messages of their own: another key or owner', async () => {
  const own = await Vault.open({ room, mk }, 'ann')
  await own.write('draft', 'For Ann')
  await own.write('out/1', 'Unsent to Ann')
  for (const other of [await Vault.open({ room, mk: otherMk }, 'ann'), await Vault.open({ room, mk }, 'mallory')]) {
    assert.equal(await other.read('draft'), undefined)
    assert.deepEqual(other.names('out/'), [])
    await other.write('draft', 'For somebody else')
    await other.remove('draft')
  }
  const again = await Vault.open({ room, mk }, 'ann')
  assert.deepEqual([await again.read('draft'), again.names('out/')], ['For Ann', ['out/1']])
})

/** Stores these as an earlier release did: under the name of the room alone. */
async function storeAsBefore(names: Record<string, unknown>, owner?: string): Promise<void> {
  const own = await Vault.open({ room, mk }, owner)
  for (const [name, value] of Object.entries(names)) await own.write(name, value)
  for (const [key, value] of Object.entries(storage)) {
    storage.removeItem(key)
    storage.setItem(key.replace(/^atrium\.space\.room\/lantern\/[\w-]{22}\//, 'atrium.space/lantern/'), String(value))
  }
  assert.ok(storage.getItem('atrium.space/lantern/draft') !== null)
}

test('what an earlier release has stored is found once, by the key that opens it', async () => {
  await storeAsBefore({ draft: 'From before', 'out/1': 'Unsent before' })
  const stranger = await Vault.open({ room, mk: otherMk })
  assert.equal(await stranger.read('draft'), undefined)
  const next = await Vault.open({ room, mk })
  assert.deepEqual([await next.read('draft'), next.names('out/')], ['From before', ['out/1']])
  assert.deepEqual(
    Object.keys(storage).filter((key) => /lantern\/(draft|out)/.test(key)),
    [],
  )
  await next.remove('draft')
  assert.equal(await (await Vault.open({ room, mk })).read('draft'), undefined)
})

test('what an earlier release has stored goes to the owner whose room was read, whichever link is opened first', async () => {
  const { seenName } = await Vault.open({ room, mk }, 'ann')
  await storeAsBefore({ draft: 'For Ann', 'out/1': 'Unsent to Ann', [seenName]: { readTo: 1 } }, 'ann')
  const mallory = await Vault.open({ room, mk }, 'mallory')
  assert.deepEqual([await mallory.read('draft'), mallory.names('')], [undefined, []])
  const ann = await Vault.open({ room, mk }, 'ann')
  assert.deepEqual([await ann.read('draft'), ann.names('out/')], ['For Ann', ['out/1']])
  assert.deepEqual(await ann.read(seenName), { readTo: 1 })
})

test('a visit that ends while it moves what was stored leaves the rest to the same owner', async () => {
  const { seenName } = await Vault.open({ room, mk }, 'ann')
  await storeAsBefore({ [seenName]: { readTo: 1 }, draft: 'For Ann', 'out/1': 'Unsent to Ann' }, 'ann')
  const { removeItem } = localStorage
  let moved = 0
  localStorage.removeItem = (key) => {
    if (moved++ > 0) throw new Error('the page was closed')
    removeItem.call(localStorage, key)
  }
  await Vault.open({ room, mk }, 'ann')
  localStorage.removeItem = removeItem
  assert.deepEqual((await Vault.open({ room, mk }, 'mallory')).names(''), [])
  assert.deepEqual((await Vault.open({ room, mk }, 'ann')).names('out/'), ['out/1'])
})

test('what another key has stored under the name of a room keeps nothing from its own key', async () => {
  const other = await Vault.open({ room, mk: otherMk })
  await other.write(other.seenName, { readTo: 1 })
  for (const [key, value] of Object.entries(storage)) {
    storage.removeItem(key)
    storage.setItem(key.replace(/^atrium\.space\.room\/lantern\/[\w-]{22}\//, 'atrium.space/lantern/'), String(value))
  }
  await storeAsBefore({ draft: 'From before' })
  assert.equal(await (await Vault.open({ room, mk })).read('draft'), 'From before')
})

test('what another tab has moved and dropped meanwhile is not stored again', async () => {
  await storeAsBefore({ draft: 'From before' })
  const { decrypt } = crypto.subtle
  const during = async (...args: Parameters<typeof decrypt>) => {
    storage.removeItem('atrium.space/lantern/draft')
    return decrypt.apply(crypto.subtle, args)
  }
  Object.defineProperty(crypto.subtle, 'decrypt', { value: during, configurable: true })
  try {
    const vault = await Vault.open({ room, mk })
    assert.deepEqual(vault.names(''), [])
  } finally {
    Reflect.deleteProperty(crypto.subtle, 'decrypt')
  }
})
