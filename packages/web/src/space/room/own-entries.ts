import type { Entry } from '@atrium/room-client/space-ops'
import type { Vault } from './vault.ts'

const NAME = 'own'
/** Only the newest are kept. Older messages are recognised by the device key. */
const MAX_KEPT = 1_000

/**
 * The ids of messages written on this device, as the service returned them. Everyone in a room can read all fields of
 * a message, including its client_id, so no field can prove that a message was written here. In a room with a list, the
 * key that has signed a message does, and its id does not: the service can tell it to another member before the message
 * is in the room.
 */
export class OwnEntries {
  readonly #vault: Vault
  readonly #key: string | undefined
  readonly #ids = new Set<string>()

  /** `key`: of this device, in a room with a list. */
  constructor(vault: Vault, key: string | undefined) {
    this.#vault = vault
    this.#key = key
  }

  async restore(): Promise<void> {
    for (const id of (await this.#vault.read<string[]>(NAME)) ?? []) this.#ids.add(id)
  }

  has({ id, author }: Entry): boolean {
    return this.#key === undefined ? this.#ids.has(id) : author.key === this.#key
  }

  add(id: string): void {
    this.#ids.add(id)
    void this.#vault.write(NAME, [...this.#ids].slice(-MAX_KEPT))
  }
}
