import type { RoomEntry } from '../agent-room.ts'

interface Self {
  id: string
  name: string
}

/** How many turns agents may say one after the other before a person has to speak. */
const maxAgentTurns = 3

/**
 * The entry that the agent answers now: the newest one after `answeredSeq` that is for it. Several that came together get one answer. What
 * a person says is for it; what another agent says only where it calls it by its name, and only so often in a row: two agents must not
 * keep each other talking. Never its own.
 */
export function turnToAnswer(entries: RoomEntry[], self: Self, answeredSeq: number): RoomEntry | undefined {
  return entries.findLast((entry, i) => entry.seq > answeredSeq && isForIt(entry, self, () => agentTurnsBefore(entries, i)))
}

function isForIt({ author, message }: RoomEntry, self: Self, agentTurns: () => number): boolean {
  if (author.kind !== 'agent') return true
  if (author.id === self.id) return false
  return calls(message.text, self.name) && agentTurns() < maxAgentTurns
}

/** How many agents' turns stand together up to and with the one at `index`. */
function agentTurnsBefore(entries: RoomEntry[], index: number): number {
  const lastPerson = entries.slice(0, index + 1).findLastIndex(({ author }) => author.kind !== 'agent')
  return index - lastPerson
}

/** Whether the text has the name as a word of its own, in whatever capitals. */
function calls(text: string, name: string): boolean {
  const words = (of: string) =>
    ` ${of
      .toLowerCase()
      .normalize('NFKC')
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean)
      .join(' ')} `
  return words(text).includes(words(name))
}
