import { useEffect, useState } from 'preact/hooks'
import { accountStore } from '../identity/account.ts'
import { keyOf } from '../identity/present.ts'
import { authorName } from '../components/authors.ts'
import { memberName } from '../components/members.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { t } from '../text/text.ts'

/** Under which name the others will see it. */
export function WritingAs({ session, onChangeName }: { session: RoomSession; onChangeName: () => void }) {
  const signedIn = useStore(accountStore, (value) => value.account)
  // A client-sealed room learns nothing of the account.
  const account = session.secret.kind === 'classic' ? signedIn : undefined
  const claimed = useStore(session.names, (value) => value.name)
  const member = useStore(session.list, ({ members, own }) => members.find((one) => one.key === own))
  const [key, setKey] = useState<string>()
  useEffect(() => {
    void keyOf(session.secret.room, 'guest').then(({ thumbprint }) => setKey(thumbprint))
  }, [session])
  const guest = { kind: 'anonymous', ...(key !== undefined && { key }), ...(claimed !== undefined && { name: claimed }) } as const
  return (
    <>
      <span class="writing-as" id="composer-hint">
        {t.messages.writingAs(
          <bdi>{account ? (account.name ?? account.email) : member ? memberName(member) : authorName(guest)}</bdi>,
        )}
      </span>
      {!account && !session.listed && (
        <button class="link-button change-name" type="button" aria-haspopup="dialog" onClick={onChangeName}>
          {t.tools.names.change}
        </button>
      )}
    </>
  )
}
