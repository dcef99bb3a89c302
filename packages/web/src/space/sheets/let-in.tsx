import { useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import type { CatalogAgent } from '../api/platform-api.ts'
import { accountStore } from '../identity/account.ts'
import { announce } from '../parts/announcer.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { changeList } from './change-list.ts'
import { useOwnership } from './use-ownership.ts'

interface LetInProps {
  agent: CatalogAgent
  session: RoomSession
  /** It is on the list now. */
  onLetIn: () => Promise<void>
}

/** The room's list does not have the agent: its owner can put it there, anyone else can ask for it. */
export function LetIn({ agent: { id, name }, session, onLetIn }: LetInProps) {
  const ownership = useOwnership(session)
  const account = useStore(accountStore, (value) => value.account)
  const [problem, setProblem] = useState<string>()
  const letIn = async () => {
    setProblem(undefined)
    try {
      await changeList(session, { op: 'admit', agents: [id] })
      announce(`${name} was let in`)
    } catch (error) {
      const { title, text } = failureWords(error, account?.email)
      return setProblem(`${title}. ${text}`)
    }
    await onLetIn()
  }
  return (
    <div class="let-in" role="alert">
      <p>
        <bdi>{name}</bdi> is not on this room’s list. Nothing was taken from the coupon.
      </p>
      {ownership === 'account' && (
        <div class="buttons">
          <button class="button" type="button" onClick={() => void letIn()}>
            Let it in, and invite it
          </button>
        </div>
      )}
      {ownership === null && (
        <p class="hint">
          Only the room’s owner can let it in, by its id: <span class="agent-id">{id}</span>
        </p>
      )}
      {problem !== undefined && <p class="problem">{problem}</p>}
    </div>
  )
}
