import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { callSpace } from '../api/space-client.ts'
import { type As, identityIn } from '../identity/present.ts'
import { Icon } from '../parts/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'

/** Asked for twice, because it cannot be undone. */
export function RemoveRoom({ session, as }: { session: RoomSession; as: As }) {
  const [asking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string>()
  const cancel = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (asking) cancel.current?.focus()
  }, [asking])
  const remove = async () => {
    try {
      const { room, mk } = session.secret
      await callSpace({ op: 'remove', room, mk }, { identity: await identityIn(room, as) })
      session.reader.restart()
    } catch (error) {
      const { title, text } = failureWords(error)
      setProblem(`${title}. ${text}`)
    }
  }
  return (
    <section aria-labelledby="remove">
      <h3 id="remove">Remove the room</h3>
      <p>It is yours. Removing it deletes everything that was said in it, for everyone, and cannot be undone.</p>
      {asking ? (
        <div class="confirm" role="group" aria-label="Remove the room for good?">
          <p>Remove it for good?</p>
          <div class="buttons">
            <button class="button danger" type="button" onClick={() => void remove()}>
              Remove it
            </button>
            <button class="button" type="button" ref={cancel} onClick={() => setAsking(false)}>
              Keep it
            </button>
          </div>
        </div>
      ) : (
        <div class="buttons">
          <button class="button" type="button" onClick={() => setAsking(true)}>
            <Icon name="trash" />
            Remove…
          </button>
        </div>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}
