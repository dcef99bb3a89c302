import type { Invitation } from '@atrium/room-client/listed-types'
import { findAgentId } from '@atrium/room-client/seal-for-agent'
import { useEffect, useRef, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { announce } from '../components/announcer.tsx'
import { Banner } from '../components/banner.tsx'
import { memberName } from '../components/members.ts'
import { parseAddresses } from '../components/parse-addresses.ts'
import { ShareLink } from '../components/share-link.tsx'
import { Sheet } from '../components/sheet.tsx'
import type { ListedChannel } from '../room/listed-channel.ts'
import type { RoomSession } from '../room/room-session.ts'
import { secondDeviceLink } from '../room/second-device.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'
import { AdmitForm } from './admit-form.tsx'
import { InvitationItem, MemberItem, type Removal } from './listed-rows.tsx'

interface ListedPeopleProps {
  session: RoomSession
  listed: ListedChannel
  /** undefined: there is no catalog of agents, or this visitor is not the owner. */
  onInvite: (() => void) | undefined
  onClose: () => void
}

/** Runs a change of the list, which resolves to false if it changed nothing. Resolves to whether it succeeded. */
type Run = (change: () => Promise<unknown>, done: string) => Promise<boolean>

/** The list of a client-sealed room. Its owner invites, lets in and removes here. */
export function ListedPeople({ session, listed, onInvite, onClose }: ListedPeopleProps) {
  const { members, invitations, vouched, owner, own } = useStore(session.list, (list) => list)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  /** A member shows the link for a second device. */
  const [isAdding, setAdding] = useState(false)
  const isOwner = owner === own && own !== ''
  const words = t.sealed.list
  const run: Run = async (change, done) => {
    if (busy) return false
    setBusy(true)
    setProblem(undefined)
    try {
      if ((await change()) === false) return false
      announce(done)
      return true
    } catch (error) {
      const { title, text } = failureWords(error)
      setProblem(t.titled(title, text))
      return false
    } finally {
      setBusy(false)
    }
  }
  const admit = ({ key, answeredBy }: Invitation) =>
    answeredBy &&
    run(
      async () => {
        if (await listed.admit(key, answeredBy.key)) return true
        setProblem((await listed.canSealTo(answeredBy.key)) ? words.notLetIn : words.noKey)
        return false
      },
      t.people.wasLetIn(memberName(answeredBy)),
    )
  /** A second device of the owner has keys of its own. The invitation, which has no address, is its link or QR code. */
  const addDevice = () => {
    const me = members.find(({ key }) => key === own)
    return run(() => listed.invite(words.deviceOf(me ? memberName(me) : '')), words.invited(1))
  }
  return (
    <Sheet title={t.people.title} onClose={onClose} docks>
      <section aria-labelledby="members">
        <h3 id="members">{words.members}</h3>
        <ul class="people">
          {members.map((member) => (
            <MemberItem
              key={member.key}
              member={member}
              isOwner={member.key === owner}
              isYou={member.key === own}
              {...(isOwner &&
                member.key !== owner && {
                  removal: {
                    ...removedWith(listed, member.key),
                    busy,
                    onRemove: () => run(() => listed.expel([member.key]), t.people.wasRemoved(memberName(member))),
                  },
                })}
            />
          ))}
        </ul>
        {isOwner && <p class="hint">{words.removeHint}</p>}
        <div class="buttons">
          <button
            class="button"
            type="button"
            aria-disabled={busy}
            aria-expanded={isOwner ? undefined : isAdding}
            onClick={() => (isOwner ? void addDevice() : setAdding(!isAdding))}
          >
            {words.addDevice}
          </button>
        </div>
        {isAdding && (
          <div class="invitation-link">
            <ShareLink title={undefined} link={secondDeviceLink(session.secret, own)} label={words.deviceLink} />
            <p class="hint">{words.deviceHint}</p>
          </div>
        )}
      </section>
      {vouched.length > 0 && (
        <section aria-labelledby="named">
          <h3 id="named">{words.named}</h3>
          <ul class="people">
            {vouched.map((member) => (
              <MemberItem
                key={member.key}
                member={member}
                isOwner={false}
                isYou={false}
                busy={busy}
                onLetIn={
                  isOwner
                    ? () => void run(() => listed.letInSecond(member.key), t.people.wasLetIn(memberName(member)))
                    : undefined
                }
              />
            ))}
          </ul>
        </section>
      )}
      {invitations.length > 0 && (
        <section aria-labelledby="invitations">
          <h3 id="invitations">{words.invitations}</h3>
          <ul class="people">
            {invitations.map((invitation) => (
              <InvitationItem
                key={invitation.key}
                invitation={invitation}
                isOwner={isOwner}
                busy={busy}
                onLetIn={() => void admit(invitation)}
                onTakeBack={() => run(() => listed.expel([invitation.key]), words.tookBack(invitation.invitedAs))}
              />
            ))}
          </ul>
        </section>
      )}
      {isOwner ? (
        <section>
          <AdmitForm
            label={words.invite}
            placeholder="cem@example.com"
            inputMode="email"
            button={words.inviteButton}
            hint={words.inviteHint}
            mustWait={busy}
            parse={parseInvited}
            wrongText={(wrong) => t.newRoom.notAddresses(wrong)}
            onAdmit={(names, isIn) =>
              run(async () => {
                for (const name of names) {
                  await listed.invite(name)
                  isIn(name)
                }
              }, words.invited(names.length))
            }
          />
        </section>
      ) : (
        <p class="hint">{t.people.onlyOwner(t.people.itsOwner)}</p>
      )}
      {onInvite && (
        <section aria-labelledby="agents">
          <h3 id="agents">{t.tools.agents.title}</h3>
          <p class="hint">{t.agents.sealed.hint}</p>
          <div class="buttons">
            <button class="button" type="button" onClick={onInvite}>
              {t.agents.invite}
            </button>
          </div>
        </section>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert" ref={intoView}>
          {problem}
        </p>
      )}
      <p class="hint">{t.sealed.list.kinds}</p>
    </Sheet>
  )
}

/** Tells the owner of a list who waits to be let in. An agent that was invited is let in without a question. */
export function WaitingBanner({ session, onPeople }: { session: RoomSession; onPeople: () => void }) {
  const { invitations, vouched, owner, own } = useStore(session.list, (list) => list)
  const told = useRef(new Set<string>())
  const answered = invitations.flatMap(({ answeredBy, invitedAs }) =>
    answeredBy && findAgentId(invitedAs) === undefined ? [answeredBy] : [],
  )
  const waiting = own !== '' && owner === own ? [...answered, ...vouched] : []
  useEffect(() => {
    for (const member of waiting) {
      if (told.current.has(member.key)) continue
      told.current.add(member.key)
      announce(t.sealed.list.waits(memberName(member)))
    }
  }, [invitations, vouched])
  if (waiting.length === 0) return null
  return (
    <Banner tone="quiet" silent>
      {waiting.map((member) => (
        <p key={member.key}>
          {t.sealed.list.waits(memberName(member))}{' '}
          <button class="link-button" type="button" aria-haspopup="dialog" onClick={onPeople}>
            {t.room.people}
          </button>
        </p>
      ))}
    </Banner>
  )
}

/** The list may be longer than the screen, and the button far from here. */
const intoView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

/** Addresses; or, without any, one name such as "Grace, by telephone". */
function parseInvited(text: string): { names: string[]; wrong: string | undefined } {
  const { emails, wrong } = parseAddresses(text)
  const name = text.trim()
  if (emails.length === 0 && !name.includes('@') && name !== '' && name.length <= MAX_NAME_LENGTH)
    return { names: [name], wrong: undefined }
  return { names: emails, wrong: wrong[0] }
}

const MAX_NAME_LENGTH = 80

/** What the removal of a device asks about. */
function removedWith(listed: ListedChannel, key: string): Pick<Removal, 'alsoRemoved' | 'stay' | 'takesBack'> {
  const { members, stay, invitations } = listed.removedWith(key)
  const takesBack = [...new Set(invitations.map(({ invitedAs }) => invitedAs))]
  return { alsoRemoved: members.map(memberName), stay: stay.map(memberName), takesBack }
}
