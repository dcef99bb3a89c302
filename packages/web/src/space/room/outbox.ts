import type { Vault } from './vault.ts'

/** A message that is being sent. `sent`: the service has stored it, and the next poll will return it. */
export interface Pending {
  readonly clientId: string
  readonly text: string
  readonly replyTo?: string
  readonly at: string
  readonly state: 'waiting' | 'sending' | 'sent' | 'refused'
  /** The id of the entry, once the message is sent. */
  readonly entryId?: string
  /** Why it was refused. */
  readonly failure?: unknown
}

type Kept = Pick<Pending, 'clientId' | 'text' | 'replyTo' | 'at'>

const NAME = 'out/'

/**
 * Each message has an entry of its own, so that two tabs never overwrite each other's messages. If both send one, its
 * client_id makes the service store it once.
 */
export function keepPending(vault: Vault, { clientId, text, replyTo, at }: Pending): Promise<boolean> {
  return vault.write(NAME + clientId, { clientId, text, ...(replyTo !== undefined && { replyTo }), at } satisfies Kept)
}

export function dropPending(vault: Vault, clientId: string): Promise<void> {
  return vault.remove(NAME + clientId)
}

export async function readPending(vault: Vault): Promise<Pending[]> {
  const kept = await Promise.all(vault.names(NAME).map((name) => vault.read<Kept>(name)))
  return kept
    .flatMap((message) => (message ? [{ ...message, state: 'waiting' as const }] : []))
    .sort((a, b) => a.at.localeCompare(b.at))
}
