import { useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { announce } from '../components/announcer.tsx'
import { parseAgentIds } from '../components/parse-agent-ids.ts'
import { Problem } from '../components/problem.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'
import { AdmitForm } from './admit-form.tsx'
import { changeList } from './change-list.ts'

/** Adds an agent to the list that joins by itself or was invited elsewhere. */
export function AgentById({ session, onDone }: { session: RoomSession; onDone: () => void }) {
  const [problem, setProblem] = useState<string>()
  const admit = async (ids: string[]) => {
    setProblem(undefined)
    try {
      await changeList(session, { op: 'admit', agents: ids })
      announce(t.people.agentsLetIn(ids.length))
      onDone()
      return true
    } catch (error) {
      const { title, text } = failureWords(error)
      setProblem(t.titled(title, text))
      return false
    }
  }
  return (
    <section aria-labelledby="by-id">
      <h3 id="by-id">{t.tools.agents.byId}</h3>
      <AdmitForm
        label={t.people.letAgentIn}
        placeholder="agt_…"
        inputMode="text"
        hint={t.people.letAgentInHint}
        parse={(text) => {
          const { ids, wrong } = parseAgentIds(text)
          return { names: ids, wrong: wrong[0] }
        }}
        wrongText={t.people.notAgentId}
        onAdmit={admit}
      />
      <Problem text={problem} />
    </section>
  )
}
