import type { Invitation } from '@atrium/room-client/listed-types'
import type { Store } from '../store.ts'
import type { RoomList } from './room-list.ts'
import { holdLock, ifUnlocked } from './tab-lock.ts'
import type { Vault } from './vault.ts'

/** In what this device keeps of the room. */
const PREFIX = 'invitation/'

/** The texts of invitations that this device has made. It keeps each for as long as the invitation is open, to show it again. */
export class InvitationTexts {
  readonly #vault: Vault
  readonly #list: Store<RoomList>
  readonly #readInvitations: () => Promise<readonly Invitation[]>
  /** The invitations that were asked for and may not be on the list, by whom they are for. Their texts stay meanwhile. */
  readonly #unfinished = new Map<string, readonly { key: string; end: () => Promise<void> }[]>()

  /** `readInvitations` asks the service. */
  constructor(vault: Vault, list: Store<RoomList>, readInvitations: () => Promise<readonly Invitation[]>) {
    this.#vault = vault
    this.#list = list
    this.#readInvitations = readInvitations
  }

  read(key: string): Promise<string | undefined> {
    return this.#vault.read<string>(PREFIX + key)
  }

  /**
   * Keeps the text of an invitation before the list has it: a tab that is closed in between would have lost the link of an
   * invitation that is open. Resolves to the keys of those before it for the same person, which the list may have.
   */
  async begin(who: string, key: string, text: string): Promise<string[]> {
    const end = await holdLock(PREFIX + key)
    const before = this.#unfinished.get(who) ?? []
    this.#unfinished.set(who, [...before, { key, end }])
    await this.#vault.write(PREFIX + key, text)
    return before.map((one) => one.key)
  }

  /** No invitation for this person is about to be written any more. */
  async release(who: string): Promise<void> {
    await Promise.all((this.#unfinished.get(who) ?? []).map(({ end }) => end()))
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.#unfinished.keys()].map((who) => this.release(who)))
  }

  /** The list that was read last has every invitation for this person that was written. */
  async finish(who: string): Promise<void> {
    const released = this.release(who)
    this.#unfinished.delete(who)
    await released
    await this.dropUnused()
  }

  /**
   * Drops the texts of invitations that are not open: they were used or taken back, or have failed, also in a page that was
   * closed. The list is read once it is certain that no tab is about to write the invitation.
   */
  async dropUnused(): Promise<void> {
    const isOpen = (name: string, { key }: { key: string }) => name === PREFIX + key
    for (const name of this.#vault.names(PREFIX)) {
      if (this.#list.value.invitations.some((one) => isOpen(name, one))) continue
      await ifUnlocked(name, async () => {
        const invitations = await this.#readInvitations()
        if (!invitations.some((one) => isOpen(name, one))) await this.#vault.remove(name)
      })
    }
  }
}
