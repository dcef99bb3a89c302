import type { AdmittedAgent } from '@atrium/sealing/records'
import type { Participant } from '../components/authors.ts'
import type { Change } from './member-list.tsx'
import { MemberRow } from './member-row.tsx'
import { t } from '../text/text.ts'

interface AgentListProps {
  agents: readonly AdmittedAgent[]
  /** The authors, because the list contains only the ids of agents. */
  people: readonly Participant[]
  /** undefined: the viewer may not change the list. */
  change: Change | undefined
  hasCatalog: boolean
  onInvite: () => void
}

/** The agents on the list, and the one way to invite another. */
export function AgentList({ agents, people, change, hasCatalog, onInvite }: AgentListProps) {
  // From the catalog or, for the owner of a list, by the agent's id.
  const canInvite = hasCatalog || change !== undefined
  if (agents.length === 0 && !canInvite) return null
  const nameOf = (id: string) => people.find(({ author }) => author.id === id)?.author.name ?? id
  return (
    <section aria-labelledby="agents">
      <h3 id="agents">{agents.length > 0 ? t.people.agents : t.tools.agents.title}</h3>
      {agents.length > 0 && (
        <ul class="people">
          {agents.map((agent) => {
            const { id } = agent
            const name = nameOf(id)
            return (
              <MemberRow
                key={id}
                name={name}
                member={agent}
                {...(change && {
                  onExpel: () => change({ op: 'expel', agents: [id] }, t.people.wasRemoved(name)),
                  onAdmit: () => change({ op: 'admit', agents: [id] }, t.people.wasLetIn(name)),
                })}
              />
            )
          })}
        </ul>
      )}
      {canInvite && (
        <>
          <p class="hint">{hasCatalog ? t.people.elseHint : t.tools.agents.listHint}</p>
          <div class="buttons">
            <button class="button" type="button" onClick={onInvite}>
              {t.agents.invite}
            </button>
          </div>
        </>
      )}
    </section>
  )
}
