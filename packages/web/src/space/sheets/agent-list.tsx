import type { AdmittedAgent } from '@atrium/sealing/records'
import type { Participant } from '../parts/authors.ts'
import { parseAgentIds } from '../parts/parse-agent-ids.ts'
import { AdmitForm } from './admit-form.tsx'
import type { Change } from './member-list.tsx'
import { MemberRow } from './member-row.tsx'

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
      <h3 id="agents">Agents on the list</h3>
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
                  onExpel: () => change({ op: 'expel', agents: [id] }, `${name} was removed`),
                  onAdmit: () => change({ op: 'admit', agents: [id] }, `${name} was let in`),
                })}
              />
            )
          })}
        </ul>
      )}
      {change && (
        <AdmitForm
          label="Let an agent in"
          placeholder="agt_…"
          inputMode="text"
          hint="By its id. An agent reads all that is written here, from the first message on."
          parse={(text) => {
            const { ids, wrong } = parseAgentIds(text)
            return { names: ids, wrong: wrong[0] }
          }}
          wrongText={(wrong) => `This is not an agent’s id: ${wrong}`}
          onAdmit={(ids) =>
            change({ op: 'admit', agents: ids }, ids.length === 1 ? 'The agent was let in' : 'The agents were let in')
          }
        />
      )}
    </section>
  )
}
