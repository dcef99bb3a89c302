import type { AdmittedAgent } from '@atrium/sealing/records'
import type { Participant } from '../parts/authors.ts'
import { parseAgentIds } from '../parts/parse-agent-ids.ts'
import { AdmitForm } from './admit-form.tsx'
import type { Change } from './member-list.tsx'
import { MemberRow } from './member-row.tsx'
import { t } from '../text/text.ts'

interface AgentListProps {
  agents: readonly AdmittedAgent[]
  /** The authors, because the list contains only the ids of agents. */
  people: readonly Participant[]
  /** undefined: the viewer may not change the list. */
  change: Change | undefined
}

/** The agents on the list. If there are none, only the owner sees this section. */
export function AgentList({ agents, people, change }: AgentListProps) {
  if (agents.length === 0 && !change) return null
  const nameOf = (id: string) => people.find(({ author }) => author.id === id)?.author.name ?? id
  return (
    <section aria-labelledby="agents">
      <h3 id="agents">{t.people.agents}</h3>
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
      {change && (
        <AdmitForm
          label={t.people.letAgentIn}
          placeholder="agt_…"
          inputMode="text"
          hint={t.people.letAgentInHint}
          parse={(text) => {
            const { ids, wrong } = parseAgentIds(text)
            return { names: ids, wrong: wrong[0] }
          }}
          wrongText={(wrong) => t.people.notAgentId(wrong)}
          onAdmit={(ids) => change({ op: 'admit', agents: ids }, t.people.agentsLetIn(ids.length))}
        />
      )}
    </section>
  )
}
