import { type InvitedAgent, isHere } from '../agents/invited-agent.ts'
import type { InvitedAgents } from '../agents/invited-agents.ts'
import { Icon } from '../components/icon.tsx'
import { clockTime } from '../components/format-time.ts'
import { useStore } from '../use-store.ts'
import type { ComponentChildren } from 'preact'
import { t } from '../text/text.ts'

interface InvitedBarProps {
  invited: InvitedAgents
  /** A line is gone, and the focus with it. */
  onDismiss: () => void
}

/** One line for each agent that this tab invited and that is still in the room. */
export function InvitedBar({ invited, onDismiss }: InvitedBarProps) {
  const agents = useStore(invited.state, (state) => state.agents)
  if (agents.length === 0) return null
  return (
    <section class="invited" aria-label={t.agents.invited}>
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
  // A launch that is not known to be accepted cannot be stopped yet.
  const canGo = isHere(agent) && !leaving && !agent.prepared
  const dismiss = () => {
    invited.forget(id)
    onDismiss()
  }
  return (
    <li>
      <p>
        {wordsOf(agent)} {agent.reason}
      </p>
      {isHere(agent) || agent.isOnList ? (
        <button class="button small" type="button" aria-disabled={!canGo} onClick={() => canGo && void invited.sendAway(agent)}>
          {t.agents.sendAway(
            (shown) => (
              <span class="visually-hidden">{shown}</span>
            ),
            name,
          )}
        </button>
      ) : (
        <button class="icon-button" type="button" aria-label={t.agents.dismiss(name)} onClick={dismiss}>
          <Icon name="close" />
        </button>
      )}
    </li>
  )
}

function wordsOf(agent: InvitedAgent): ComponentChildren {
  const { status, hasJoined, leaving, unreached, expiresAt, chargedCredits } = agent
  const name = <bdi class="name">{agent.name}</bdi>
  if (!isHere(agent) && agent.isOnList) return t.agents.sealed.removing(name)
  if (status === 'expired') return t.agents.expired(name, chargedCredits)
  if (status === 'stopped') return t.agents.stopped(name, chargedCredits)
  if (status === 'failed') return t.agents[hasJoined ? 'hadToLeave' : 'couldNotCome'](name, chargedCredits)
  if (unreached) return t.agents.unreached(name)
  if (leaving) return t.agents.leaving(name)
  return status === 'launching' ? t.agents.coming(name) : t.agents.present(name, clockTime(expiresAt))
}
