import { useEffect, useState } from 'preact/hooks'
import { accountStore } from '../identity/account.ts'
import { keyOf } from '../identity/present.ts'
import { authorName } from '../parts/authors.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { t } from '../text/text.ts'

/** Under which name the others will see it. */
export function WritingAs({ session }: { session: RoomSession }) {
  const account = useStore(accountStore, (value) => value.account)
  const [guest, setGuest] = useState<string>()
  useEffect(() => {
    void keyOf(session.secret.room, 'guest').then(({ thumbprint }) =>
      setGuest(authorName({ kind: 'anonymous', key: thumbprint })),
    )
  }, [session])
  return (
    <span class="writing-as">
      {t.messages.writingAs(<bdi>{account ? (account.name ?? account.email) : (guest ?? t.authors.guest)}</bdi>)}
    </span>
  )
}
