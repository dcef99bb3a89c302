import { useState } from 'preact/hooks'
import type { Member } from '@atrium/room-client/listed-types'
import { findAgentId } from '@atrium/room-client/seal-for-agent'
import { AgentMark } from '../components/agent-mark.tsx'
import { Avatar } from '../components/avatar.tsx'
import { Confirm, useAsking } from '../components/confirm.tsx'
import { memberName, memberNote } from '../components/members.ts'
import { ShareLink } from '../components/share-link.tsx'
import type { OwnInvitation } from '../room/room-list.ts'
import { authorOf } from '../room/shown-entry.ts'
import { invitationLink } from '../service.ts'
import { list } from '../text/format.ts'
import { t } from '../text/text.ts'

const visuallyHidden = (shown: string) => <span class="visually-hidden">{shown}</span>

export interface Removal {
  /** The names of the devices that leave with this one. */
  alsoRemoved: string[]
  /** The names of the same person's other devices, which stay. */
  stay: string[]
  /** For whom open invitations leave with it. */
  takesBack: string[]
  /** Another change of the list is on its way. */
  busy: boolean
  /** Resolves to whether it succeeded. */
  onRemove: () => Promise<boolean>
}

interface MemberItemProps {
  member: Member
  isOwner: boolean
  isYou: boolean
  /** undefined: the viewer may not remove it. */
  removal?: Removal
  /** Of a second device that is not on the list. */
  onLetIn?: (() => void) | undefined
  /** Another change of the list is on its way: a press would do nothing. */
  busy?: boolean
}

export function MemberItem({ member, isOwner, isYou, removal, onLetIn, busy = false }: MemberItemProps) {
  const name = memberName(member)
  const agent = member.hostedAgent ?? findAgentId(member.invitedAs)
  const { asking, opener, ask, end } = useAsking()
  const words = t.sealed.list
  return (
    <li>
      <Avatar author={authorOf(member)} />
      <div class="person">
        <p>
          <bdi class="name">{name}</bdi> {isYou && <span class="optional">{t.authors.isYou}</span>}{' '}
          {isOwner && <span class="badge">{t.people.owner}</span>}
          {agent !== undefined && <AgentMark />}
        </p>
        <p class="hint">{memberNote(member)}</p>
      </div>
      {onLetIn && (
        <button class="button small primary" type="button" aria-disabled={busy} onClick={onLetIn}>
          {words.letIn(visuallyHidden, name)}
        </button>
      )}
      {removal && (
        <button class="button small" type="button" ref={opener} aria-expanded={asking} onClick={ask}>
          {t.people.remove(visuallyHidden, name)}
        </button>
      )}
      {removal && asking && (
        <Confirm
          label={words.removeLabel(name)}
          yes={words.removeIt}
          no={words.keepIt}
          small
          busy={removal.busy}
          onYes={() => void removal.onRemove().then((done) => done || end())}
          onNo={end}
        >
          <p>{words.removeAsk(<bdi class="name">{name}</bdi>)}</p>
          {removal.alsoRemoved.length > 0 && <p>{words.removeToo(list(removal.alsoRemoved))}</p>}
          {removal.stay.length > 0 && <p>{words.removeStays(list(removal.stay))}</p>}
          {removal.takesBack.length > 0 && <p>{words.removeInvites(list(removal.takesBack))}</p>}
        </Confirm>
      )}
    </li>
  )
}

interface InvitationItemProps {
  invitation: OwnInvitation
  isOwner: boolean
  /** Another change of the list is on its way. */
  busy: boolean
  onLetIn: () => void
  /** Resolves to whether it succeeded. */
  onTakeBack: () => Promise<boolean>
}

export function InvitationItem({ invitation, isOwner, busy, onLetIn, onTakeBack }: InvitationItemProps) {
  const { answeredBy, text } = invitation
  const agent = findAgentId(invitation.invitedAs)
  const invitedAs = agent === undefined ? invitation.invitedAs : t.sealed.members.agent(agent)
  const [isShown, setShown] = useState(false)
  const { asking, opener, ask, end } = useAsking()
  const words = t.sealed.list
  const takeBack = async () => {
    if (!(await onTakeBack())) end()
  }
  return (
    <li class="invitation">
      <div class="person">
        <p>
          <bdi class="name">{invitedAs}</bdi> {agent !== undefined && <AgentMark />}
        </p>
        <p class="hint">
          {answeredBy ? words.answered(<bdi>{memberName(answeredBy)}</bdi>, memberNote(answeredBy)) : words.unanswered}
        </p>
      </div>
      {isOwner && (
        <div class="buttons">
          {answeredBy && (
            <button class="button small primary" type="button" aria-disabled={busy} onClick={onLetIn}>
              {words.letIn(visuallyHidden, invitedAs)}
            </button>
          )}
          {!answeredBy && text !== undefined && (
            <button class="button small" type="button" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
              {words.show(visuallyHidden, invitedAs)}
            </button>
          )}
          {/* Without an answer, nobody but the owner has done anything that would be lost. */}
          <button
            class="button small"
            type="button"
            ref={opener}
            aria-disabled={busy && !answeredBy}
            aria-expanded={answeredBy ? asking : undefined}
            onClick={() => (answeredBy ? ask() : void takeBack())}
          >
            {words.takeBack(visuallyHidden, invitedAs)}
          </button>
        </div>
      )}
      {isOwner && answeredBy && asking && (
        <Confirm
          label={words.takeBackLabel(invitedAs)}
          yes={words.takeItBack}
          no={words.leaveIt}
          small
          busy={busy}
          onYes={() => void takeBack()}
          onNo={end}
        >
          <p>{words.takeBackAsk(<bdi class="name">{memberName(answeredBy)}</bdi>)}</p>
        </Confirm>
      )}
      {isShown && !answeredBy && text !== undefined && (
        <div class="invitation-link">
          <ShareLink title={undefined} link={invitationLink(text)} label={words.linkFor(invitedAs)} />
          <p class="hint">{words.linkHint}</p>
        </div>
      )}
    </li>
  )
}
