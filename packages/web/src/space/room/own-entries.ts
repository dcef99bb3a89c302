import type { Vault } from './vault.ts'

const NAME = 'own'
/** Only the newest are kept. Older messages are recognised by the device key. */
const MAX_KEPT = 1_000

/**
 * The ids of what was written from this device, as the service answered them. Everyone in a room can read what a
 * message bears, its client_id too, so that nothing in a message makes it one's own.
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
