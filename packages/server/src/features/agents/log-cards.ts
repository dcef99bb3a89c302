import { randomBytes } from '#crypto/random.ts'
import type { Context } from '#features/context.ts'
import { leafOf } from '#features/transparency-log/entries.ts'
import { queueLeaves } from '#features/transparency-log/store.ts'
import { cardOf } from './agent.ts'
import { cardEntry } from './card-entry.ts'
import { areCardsMissing, listAgentsWithoutCard, saveCards } from './store.ts'

/**
 * Gives up to `limit` active agents a card and queues its leaf, in one transaction. The rows are locked, so that no card
 * is saved that a change has just made wrong. Returns how many there were.
 */
export async function logAgentCards({ db }: Pick<Context, 'db'>, limit: number): Promise<number> {
  // Nothing is due in most sweeps, which then need no transaction.
  if (!(await areCardsMissing(db))) return 0
  return db.transaction(async (tx) => {
    const agents = await listAgentsWithoutCard(tx, limit)
    const cards = agents.map((agent) => {
      const salt = Buffer.from(randomBytes(32)).toString('base64url')
      return { tenantId: agent.tenantId, id: agent.id, card: cardOf(agent), salt }
    })
    if (cards.length === 0) return 0
    await saveCards(tx, cards)
    await queueLeaves(
      tx,
      cards.map(({ card, salt }) => leafOf(cardEntry(card, salt))),
    )
    return cards.length
  })
}
