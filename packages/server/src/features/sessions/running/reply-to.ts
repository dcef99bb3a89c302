import { setTimeout as delay } from 'node:timers/promises'
import { ModelError } from '#ports/model/model-error.ts'
import type { Turn } from '#ports/model/model.ts'
import type { RoomEntry } from '../agent-room.ts'
import type { Session } from '../session.ts'
import type { Mind } from './open-mind.ts'

/** How long is waited before each further try: a minute in all, unless the provider asks for more. */
const retryAfterMs = [1_000, 3_000, 9_000, 17_000, 30_000]
const maxWaitMs = 60_000

interface Question {
  session: Session
  mind: Mind
  history: RoomEntry[]
  signal: AbortSignal
}

/** What the agent says to what was said, as its model puts it. A failure that may pass is tried again; the last one is thrown. */
export async function replyTo({ session, mind, history, signal }: Question): Promise<string> {
  for (let tried = 0; ; tried++) {
    try {
      const reply = await mind.model.reply({
        instructions: session.agent.instructions,
        history: history.map((entry) => turnOf(entry, session.agentId)),
        tools: mind.tools,
        ...(session.metadata ? { metadata: session.metadata } : {}),
        signal,
      })
      return reply.text
    } catch (error) {
      signal.throwIfAborted()
      const waitMs = retryAfterMs[tried]
      if (!(error instanceof ModelError) || !error.retryable || waitMs === undefined) throw error
      const askedMs = (error.retryAfterSeconds ?? 0) * 1_000
      await delay(Math.min(Math.max(waitMs, askedMs), maxWaitMs), undefined, { signal })
    }
  }
}

function turnOf({ author, message }: RoomEntry, agentId: string): Turn {
  if (author.kind === 'agent') {
    const itself = author.id === agentId
    return { author: itself ? 'agent' : 'other_agent', name: author.name ?? 'Agent', text: message.text }
  }
  return { author: 'person', name: author.name ?? 'Guest', text: message.text }
}
