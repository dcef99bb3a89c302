import { useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import type { CatalogAgent } from '../api/platform-api.ts'
import { accountStore } from '../identity/account.ts'
import { announce } from '../components/announcer.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { changeList } from './change-list.ts'
import { useOwnership } from './use-ownership.ts'
import { t } from '../text/text.ts'

interface LetInProps {
  agent: CatalogAgent
  session: RoomSession
  /** It is on the list now. */
  onLetIn: () => Promise<void>
}

/** The agent is not on the room's list. The owner can add it here; anyone else is asked to contact the owner. */
export function LetIn({ agent: { id, name }, session, onLetIn }: LetInProps) {
  const ownership = useOwnership(session)
  const account = useStore(accountStore, (value) => value.account)
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const letIn = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      await changeList(session, { op: 'admit', agents: [id] })
      announce(t.people.wasLetIn(name))
    } catch (error) {
      const { title, text } = failureWords(error, account?.email)
      setProblem(t.titled(title, text))
      return setBusy(false)
    }
    await onLetIn()
    setBusy(false)
  }
  return (
    <div class="let-in" role="alert">
      <p>{t.agents.notOnList(<bdi>{name}</bdi>)}</p>
      {ownership === 'account' && (
        <div class="buttons">
          <button class="button" type="button" aria-disabled={busy} onClick={() => busy || void letIn()}>
            {t.agents.letInAndInvite}
          </button>
        </div>
      )}
      {ownership === null && <p class="hint">{t.agents.ownerCanLetIn(<bdi class="agent-id">{id}</bdi>)}</p>}
      {problem !== undefined && <p class="problem">{problem}</p>}
    </div>
  )
}
