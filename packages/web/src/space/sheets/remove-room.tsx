import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { callSpace, RETRIES } from '../api/space-client.ts'
import { type As, identityIn } from '../identity/present.ts'
import { Confirm } from '../components/confirm.tsx'
import { Icon } from '../components/icon.tsx'
import { Problem } from '../components/problem.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'

/** Asked for twice, because it cannot be undone. */
export function RemoveRoom({ session, as }: { session: RoomSession; as: As }) {
  const [asking, setAsking] = useState(false)
  const [problem, setProblem] = useState<string>()
  const remove = async () => {
    try {
      const { room, mk } = session.secret
      await callSpace({ op: 'remove', room, mk }, { identity: await identityIn(room, as), retries: RETRIES })
      session.reader.restart()
    } catch (error) {
      // A request before has removed it, and its answer was lost. The reader finds that, too.
      if (error instanceof SpaceCallError && error.status === 404) return session.reader.restart()
      const { title, text } = failureWords(error)
      setProblem(t.titled(title, text))
    }
  }
  return (
    <section aria-labelledby="remove">
      <h3 id="remove">{t.about.remove}</h3>
      <p>{t.about.removeHint}</p>
      {asking ? (
        <Confirm
          label={t.about.removeLabel}
          yes={t.about.removeIt}
          no={t.about.keepIt}
          onYes={() => void remove()}
          onNo={() => setAsking(false)}
        >
          <p>{t.about.removeAsk}</p>
        </Confirm>
      ) : (
        <div class="buttons">
          <button class="button" type="button" onClick={() => setAsking(true)}>
            <Icon name="trash" />
            {t.about.removeButton}
          </button>
        </div>
      )}
      <Problem text={problem} />
    </section>
  )
}
