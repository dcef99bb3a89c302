import type { ListedChannel } from '../room/listed-channel.ts'
import { holdLock, ifUnlocked } from '../room/tab-lock.ts'

/** In what this device keeps of the room: one entry for each launch whose outcome is not known yet. */
const LAUNCH = 'launch/'

/**
 * Launches that have begun: the agent was invited, and the answer of the platform is not here. If the page is closed
 * meanwhile, the next page takes the invitation back. An agent that was launched then does not come, and nothing is charged.
 */
export class UnfinishedLaunches {
  readonly #channel: ListedChannel
  readonly #ends = new Map<string, () => Promise<void>>()

  constructor(channel: ListedChannel) {
    this.#channel = channel
  }

  /** Kept before the invitation is made. The lock tells other tabs that this one still waits; it ends with the page. */
  async begin(invitedAs: string): Promise<void> {
    const [end] = await Promise.all([holdLock(LAUNCH + invitedAs), this.#channel.vault.write(LAUNCH + invitedAs, true)])
    this.#ends.set(invitedAs, end)
  }

  /** The outcome is known: the visit is kept, or the invitation was taken back. */
  async end(invitedAs: string): Promise<void> {
    await this.#channel.vault.remove(LAUNCH + invitedAs)
    await this.#ends.get(invitedAs)?.()
    this.#ends.delete(invitedAs)
  }

  /** Takes back what a page that was closed has left. `isKept`: whether a visit with this invitation goes on. */
  async takeBack(isKept: (invitedAs: string) => boolean): Promise<void> {
    for (const name of this.#channel.vault.names(LAUNCH)) {
      const invitedAs = name.slice(LAUNCH.length)
      // By hand it can be taken back at any time.
      await ifUnlocked(name, async () => {
        if (!isKept(invitedAs)) await this.#channel.removeInvited({ invitedAs })
        await this.#channel.vault.remove(name)
      })
    }
  }
}
