import type { Vault } from './vault.ts'

const NAME = 'own'
/** Only the newest are kept. Older messages are recognised by the device key. */
const MAX_KEPT = 1_000

/**
 * The ids of messages written on this device, as the service returned them. Everyone in a room can read all fields of
 * a message, including its client_id, so no field can prove that a message was written here.
 */
export class OwnEntries {
  readonly #vault: Vault
  readonly #ids = new Set<string>()

  constructor(vault: Vault) {
    this.#vault = vault
  }

  async restore(): Promise<void> {
    for (const id of (await this.#vault.read<string[]>(NAME)) ?? []) this.#ids.add(id)
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    this.#ids.add(id)
    void this.#vault.write(NAME, [...this.#ids].slice(-MAX_KEPT))
  }
}
