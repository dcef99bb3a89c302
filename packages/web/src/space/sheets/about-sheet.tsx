import { useState } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { accountStore, keepAccount } from '../identity/account.ts'
import { Icon } from '../parts/icon.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { SignInButton } from '../parts/sign-in-button.tsx'
import { announce } from '../parts/announcer.tsx'
import { download, exportPlain, exportSealed } from '../protect/export-room.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { RemoveRoom } from './remove-room.tsx'
import { useOwnership } from './use-ownership.ts'

interface AboutSheetProps {
  session: RoomSession
  config: SpaceConfig | undefined
  onClose: () => void
}

export function AboutSheet({ session, config, onClose }: AboutSheetProps) {
  const owner = useOwnership(session)
  return (
    <Sheet title="This room" onClose={onClose}>
      <You config={config} />
      <Export session={session} />
      {owner && <RemoveRoom session={session} as={owner} />}
    </Sheet>
  )
}

function You({ config }: { config: SpaceConfig | undefined }) {
  const account = useStore(accountStore, (value) => value.account)
  return (
    <section aria-labelledby="you">
      <h3 id="you">You</h3>
      {account ? (
        <>
          <p>
            Signed in as <bdi>{account.email}</bdi>. In every room you write in, the others see this address.
          </p>
          <div class="buttons">
            <button class="button" type="button" onClick={() => keepAccount(undefined)}>
              Sign out
            </button>
          </div>
        </>
      ) : (
        <>
          <p>You are a guest. Your messages are signed by a key that this device keeps for this room alone.</p>
          <SignInButton config={config} />
        </>
      )}
    </section>
  )
}

function Export({ session }: { session: RoomSession }) {
  const [problem, setProblem] = useState(false)
  const save = (make: Promise<Blob>, extension: string) => {
    setProblem(false)
    make.then(
      (blob) => {
        download(blob, `room-${session.secret.room.slice(0, 8)}.${extension}`)
        announce('Saved')
      },
      () => setProblem(true),
    )
  }
  return (
    <section aria-labelledby="export">
      <h3 id="export">Take it with you</h3>
      <p>
        All messages in plain text, opened on this device; or the sealed bytes as they are stored, which any JOSE tool opens with
        the room’s key.
      </p>
      <div class="buttons">
        <button class="button" type="button" onClick={() => save(exportPlain(session.secret), 'json')}>
          <Icon name="download" />
          Messages
        </button>
        <button class="button" type="button" onClick={() => save(exportSealed(session.secret), 'sealed.jsonl')}>
          <Icon name="download" />
          Sealed bytes
        </button>
      </div>
      {problem && (
        <p class="problem" role="alert">
          It could not be fetched or opened. Try again in a moment.
        </p>
      )}
    </section>
  )
}
