import type { RoomEntry } from '../agent-room.ts'

interface Self {
  id: string
  name: string
}

/** How many turns in a row agents may write before a person has to. */
const maxAgentTurns = 3

/**
 * The entry that the agent answers now: the newest one after `answeredSeq` that addresses it. Several that came
 * together get one answer. An entry of a person always addresses the agent. An entry of another agent does so only
 * where it names the agent, and only below `maxAgentTurns` turns of agents in a row, so that two agents do not
 * talk for ever. The agent's own entries never do.
 */
export function turnToAnswer(entries: RoomEntry[], self: Self, answeredSeq: number): RoomEntry | undefined {
  return entries.findLast((entry, i) => entry.seq > answeredSeq && addresses(entry, self, () => agentTurnsBefore(entries, i)))
}

function addresses({ author, message }: RoomEntry, self: Self, agentTurns: () => number): boolean {
  if (author.kind !== 'agent') return true
  if (author.id === self.id) return false
  return names(message.text, self.name) && agentTurns() < maxAgentTurns
}

/** The number of consecutive agents' turns that end with the one at `index`. */
function agentTurnsBefore(entries: RoomEntry[], index: number): number {
  const lastPerson = entries.slice(0, index + 1).findLastIndex(({ author }) => author.kind !== 'agent')
  return index - lastPerson
}

/** Whether the text contains the name as whole words, in any case. */
function names(text: string, name: string): boolean {
  const words = (of: string) =>
    ` ${of
      .toLowerCase()
      .normalize('NFKC')
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean)
      .join(' ')} `
  return words(text).includes(words(name))
}
