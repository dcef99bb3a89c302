import { creditsInText } from '../agents/amounts.ts'
import { type InvitedAgent, isHere } from '../agents/invited-agent.ts'
import type { InvitedAgents } from '../agents/invited-agents.ts'
import { Icon } from '../parts/icon.tsx'
import { clockTime } from '../parts/moments.ts'
import { useStore } from '../use-store.ts'

interface InvitedBarProps {
  invited: InvitedAgents
  /** A line is gone, and the focus with it. */
  onDismiss: () => void
}

/** The agents invited from this tab, for as long as they read along: one line each. */
export function InvitedBar({ invited, onDismiss }: InvitedBarProps) {
  const agents = useStore(invited.state, (state) => state.agents)
  if (agents.length === 0) return null
  return (
    <section class="invited" aria-label="Agents you invited">
      <ul>
        {agents.map((agent) => (
          <Line key={agent.id} agent={agent} invited={invited} onDismiss={onDismiss} />
        ))}
      </ul>
    </section>
  )
}

function Line({ agent, invited, onDismiss }: InvitedBarProps & { agent: InvitedAgent }) {
  const { id, name, leaving } = agent
  const dismiss = () => {
    invited.forget(id)
    onDismiss()
  }
  return (
    <li>
      <p>
        <bdi class="name">{name}</bdi> {wordsOf(agent)}
      </p>
      {isHere(agent) ? (
        <button
          class="button small"
          type="button"
          aria-disabled={leaving}
          onClick={() => leaving || void invited.sendAway(agent)}
        >
          Send away<span class="unseen"> {name}</span>
        </button>
      ) : (
        <button class="icon-button" type="button" aria-label={`Dismiss ${name}`} onClick={dismiss}>
          <Icon name="close" />
        </button>
      )}
    </li>
  )
}

function wordsOf({ status, hasJoined, leaving, unreached, expiresAt, chargedCredits }: InvitedAgent): string {
  const paid = `It cost ${creditsInText(chargedCredits)}.`
  if (status === 'expired') return `has left: its time was up. ${paid}`
  if (status === 'stopped') return `has left. ${paid}`
  if (status === 'failed') return `${hasJoined ? 'had to leave' : 'could not come'}. ${paid}`
  if (unreached) return 'could not be told to go. Try again.'
  if (leaving) return 'is being sent away…'
  return status === 'launching' ? 'is coming…' : `reads along until ${clockTime(expiresAt)}`
}
