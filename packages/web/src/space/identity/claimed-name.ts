import { cleanName } from '../components/authors.ts'
import type { Vault } from '../room/vault.ts'
import { Store } from '../store.ts'

/**
 * The name that a guest uses, either in one room (stored sealed, like all data of the room) or in all rooms of this
 * device.
 */
export interface ClaimedName {
  readonly name: string | undefined
  readonly scope: 'room' | 'device'
}

export const MAX_NAME_LENGTH = 40

const KEY = 'atrium.space.name'
const IN_ROOM = 'name'

export class ClaimedNames extends Store<ClaimedName> {
  readonly #vault: Vault

  constructor(vault: Vault) {
    super({ name: undefined, scope: 'room' })
    this.#vault = vault
  }

  async restore(): Promise<void> {
    const inRoom = await this.#vault.read<string>(IN_ROOM)
    if (inRoom !== undefined) this.update({ name: nameOf(inRoom), scope: 'room' })
    else {
      const name = nameOf(readDeviceName())
      this.update({ name, scope: name === undefined ? 'room' : 'device' })
    }
  }

  /**
   * A name without visible characters counts as no name. For a room, '' is stored, so that the name of the device
   * does not apply there.
   */
  async keep(text: string, scope: ClaimedName['scope']): Promise<void> {
    const name = nameOf(text)
    this.update({ name, scope })
    if (scope === 'room') return void (await this.#vault.write(IN_ROOM, name ?? ''))
    await this.#vault.remove(IN_ROOM)
    try {
      if (name === undefined) localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, name)
    } catch {
      // Storage is switched off, so the name lasts until the page is closed.
    }
  }
}

function nameOf(text: string | undefined): string | undefined {
  const name = [...(cleanName(text) ?? '')].slice(0, MAX_NAME_LENGTH).join('')
  return name === '' ? undefined : name
}

function readDeviceName(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined
  }
}
