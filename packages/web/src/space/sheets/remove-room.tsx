import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { callSpace } from '../api/space-client.ts'
import { type As, identityIn } from '../identity/present.ts'
import { Icon } from '../parts/icon.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'

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
      setProblem(t.titled(title, text))
    }
  }
  return (
    <section aria-labelledby="remove">
      <h3 id="remove">{t.about.remove}</h3>
      <p>{t.about.removeHint}</p>
      {asking ? (
        <div class="confirm" role="group" aria-label={t.about.removeLabel}>
          <p>{t.about.removeAsk}</p>
          <div class="buttons">
            <button class="button danger" type="button" onClick={() => void remove()}>
              {t.about.removeIt}
            </button>
            <button class="button" type="button" ref={cancel} onClick={() => setAsking(false)}>
              {t.about.keepIt}
            </button>
          </div>
        </div>
      ) : (
        <div class="buttons">
          <button class="button" type="button" onClick={() => setAsking(true)}>
            <Icon name="trash" />
            {t.about.removeButton}
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
