import type { FoundFarewell } from '@atrium/room-client/line-reader'
import { useEffect, useState } from 'preact/hooks'
import type { Draft } from '../messages/use-draft.ts'
import { authorName } from '../components/authors.ts'
import { copyText } from '../components/copy-button.tsx'
import { dayInText, wholeMoment } from '../components/format-time.ts'
import type { RoomSession } from '../room/room-session.ts'
import { hashOf } from '../service.ts'
import { t } from '../text/text.ts'

/** In place of the composer: the members go on in another room. It is a claim, so nobody is taken there unasked. */
export function FarewellBox({ session, farewell: { name, at, to } }: { session: RoomSession; farewell: FoundFarewell }) {
  const unsent = useUnsent(session)
  const words = t.sealed.farewell
  const when = (
    <time dateTime={at} title={wholeMoment(at)}>
      {dayInText(at)}
    </time>
  )
  return (
    <section class="farewell" aria-labelledby="farewell">
      <div role="status">
        <h2 id="farewell">{words.title}</h2>
        <p>{words.said(<bdi>{authorName({ kind: 'anonymous', ...(name !== undefined && { name }) })}</bdi>, when)}</p>
      </div>
      <p class="hint">{to ? words.unchecked : words.noLink}</p>
      {to && (
        <div class="buttons">
          <a class="button primary" href={hashOf({ ...to, kind: 'client-sealed' })}>
            {words.open}
          </a>
        </div>
      )}
      {unsent !== '' && (
        <div class="unsent">
          <p class="hint">{words.unsent}</p>
          <p dir="auto">{unsent}</p>
          <button class="link-button" type="button" onClick={() => void copyText(unsent)}>
            {t.tools.messages.copy}
          </button>
        </div>
      )}
    </section>
  )
}

/** What the composer contained. */
function useUnsent(session: RoomSession): string {
  const [text, setText] = useState('')
  useEffect(() => void session.vault.read<Draft>('draft').then((draft) => setText(draft?.text ?? '')), [session])
  return text
}
