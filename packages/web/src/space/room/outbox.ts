import type { Vault } from './vault.ts'

/** A message on its way. `sent`: stored by the service, and about to come back with the next poll. */
export interface Pending {
  readonly clientId: string
  readonly text: string
  readonly replyTo?: string
  readonly at: string
  readonly state: 'waiting' | 'sending' | 'sent' | 'refused'
  /** Of one that is sent: the id of the entry that it became. */
  readonly entryId?: string
  /** Why it was refused. */
  readonly failure?: unknown
}

type Kept = Pick<Pending, 'clientId' | 'text' | 'replyTo' | 'at'>

const NAME = 'out/'

/**
 * One entry a message: two tabs never overwrite each other's, and if both send one its client_id lets it be stored
 * once.
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
