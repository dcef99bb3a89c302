import type { AdmittedAgent, Member } from '@atrium/sealing/records'
import { AgentMark } from '../parts/agent-mark.tsx'
import { dayInText, wholeMoment } from '../parts/moments.ts'

interface MemberRowProps {
  name: string
  member: Member | AdmittedAgent
  isOwner?: boolean
  /** undefined: the viewer may not change the list. */
  onExpel?: () => Promise<boolean>
  onAdmit?: () => Promise<boolean>
}

/** Someone on the list, or who was. An agent that has written is shown by its name, with its id. */
export function MemberRow({ name, member, isOwner = false, onExpel, onAdmit }: MemberRowProps) {
  const { admitted_at, revoked_at } = member
  const isIn = revoked_at === undefined
  const at = revoked_at ?? admitted_at
  return (
    <li class={isIn ? undefined : 'revoked'}>
      <div class="person">
        <p>
          <bdi class="name">{name}</bdi> {'id' in member && <AgentMark />} {isOwner && <span class="badge">Owner</span>}
        </p>
        <p class="hint">
          {'id' in member && member.id !== name && <bdi class="agent-id">{member.id} · </bdi>}
          {isIn ? 'Let in ' : 'Removed '}
          <time dateTime={at} title={wholeMoment(at)}>
            {dayInText(at)}
          </time>
        </p>
      </div>
      {!isOwner && onExpel && onAdmit && (
        <button class="button small" type="button" onClick={() => void (isIn ? onExpel() : onAdmit())}>
          {isIn ? 'Remove' : 'Let in again'}
          <span class="unseen"> {name}</span>
        </button>
      )}
    </li>
  )
}
