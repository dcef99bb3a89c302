import { useState } from 'preact/hooks'
import { api, currentSession } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { PagedTable } from '../components/data-table.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { Badge, Time } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { Empty } from '../components/page-head.tsx'
import { useChanges } from '../components/use-changes.ts'
import { confirm } from '../shell/confirm.tsx'
import { useSecrets } from '../shell/secrets.tsx'

type Member = Awaited<ReturnType<typeof api.listMembers>>['data'][number]
type Role = Member['role']

const roles: readonly (readonly [Role, string])[] = [
  ['owner', 'Owner: everything, members too'],
  ['developer', 'Developer: keys, webhooks, agents, credits'],
  ['moderator', 'Moderator: curates collections'],
  ['analyst', 'Analyst: reads, without secrets'],
]

/** A domain of one word, such as maria@example, is a typing error here. */
const emailPattern = String.raw`[^@\s]+@[^@\s]+\.[^@\s.]+`

/** The people who may use the console of the tenant. Only an owner changes them, and only here: a key cannot. */
export function Members() {
  const pages = usePages<Member>('members', (_page, signal) => api.listMembers({ signal }))
  const [form, setForm] = useState<'new' | Member>()
  const showSecret = useSecrets()
  const [isBusy, run] = useAction()
  const mayChange = may('own')
  const showLink = ({ url, email }: Invitation) => {
    const howToSend = `Atrium sends no e-mail. Send this link to ${email} yourself, over a channel that you trust.`
    const hint = currentSession().development ? ' If the development sign-in opens, type the invited address there.' : ''
    showSecret({
      title: 'The invitation',
      text: `${howToSend} It signs in once, within 7 days.${hint}`,
      secrets: [['Link', url]],
      confirmation: 'I have copied it. It is not shown again.',
    })
  }
  const inviteAgain = (member: Member) =>
    void run(async () => {
      const { data } = await api.updateMember({ memberId: member.id, body: { invite: true } })
      if (data.invitation) showLink({ url: data.invitation.url, email: member.email })
    })
  const remove = async (member: Member) => {
    const isSure = await confirm({
      title: `Remove ${member.email}?`,
      text: <p>Every browser of the member is signed out at once. Keys that the member created keep working.</p>,
      action: 'Remove the member',
    })
    if (isSure && (await run(async () => void (await api.removeMember({ memberId: member.id })), 'The member is removed')))
      pages.reload()
  }
  return (
    <>
      {mayChange && (
        <div>
          <button class="button primary" type="button" onClick={() => setForm('new')}>
            <Icon name="plus" />
            Invite a member
          </button>
        </div>
      )}
      <PagedTable
        caption="Members"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There are no members yet">
            <p>You came by a one-time link. Invite yourself and others: each member signs in as a person, with a role.</p>
          </Empty>
        }
        columns={[
          {
            title: 'Member',
            wide: true,
            cell: ({ id, name, email }) => (
              <span>
                <b>{name ?? email}</b> {id === currentSession().member?.id && <Badge tone="good">you</Badge>}
                {name !== null && <span class="muted"> {email}</span>}
              </span>
            ),
          },
          { title: 'Role', cell: ({ role }) => role },
          { title: 'Status', cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'warn'}>{status}</Badge> },
          { title: 'Joined', cell: ({ joined_at }) => <Time at={joined_at} /> },
          { title: 'Invited', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Actions',
            align: 'end',
            cell: (member) =>
              mayChange && (
                <span class="row-actions">
                  <button class="button small" type="button" onClick={() => setForm(member)}>
                    Edit
                  </button>
                  <button class="button small" type="button" disabled={isBusy} onClick={() => inviteAgain(member)}>
                    New link
                  </button>
                  <button class="button small" type="button" disabled={isBusy} onClick={() => void remove(member)}>
                    Remove
                  </button>
                </span>
              ),
          },
        ]}
      />
      {form !== undefined && (
        <MemberForm
          member={form === 'new' ? undefined : form}
          onClose={() => setForm(undefined)}
          onSaved={(invitation) => {
            setForm(undefined)
            pages.reload()
            if (invitation) showLink(invitation)
          }}
        />
      )}
    </>
  )
}

/** The link of an invitation, and who gets it. */
interface Invitation {
  url: string
  email: string
}

interface MemberFormProps {
  /** Absent: a new one. */
  member: Member | undefined
  onClose: () => void
  onSaved: (invitation: Invitation | undefined) => void
}

function MemberForm({ member, onClose, onSaved }: MemberFormProps) {
  const { values, changes, setter } = useChanges<{ email: string; name: string; role: Role | '' }>({
    email: '',
    name: member?.name ?? '',
    role: member?.role ?? '',
  })
  const save = async (idempotencyKey: string) => {
    if (member) {
      const { name, role } = changes
      const body = { ...(role && { role }), ...(name !== undefined && { name: name.trim() || null }) }
      if (Object.keys(body).length > 0) await api.updateMember({ memberId: member.id, body })
      return onSaved(undefined)
    }
    const { role } = values
    // The form is not sent without a role.
    if (role === '') return
    const name = values.name.trim()
    const body = { role, email: values.email.trim(), ...(name !== '' && { name }) }
    const { data } = await api.createMember({ body, idempotencyKey })
    onSaved({ url: data.invitation.url, email: data.email })
  }
  return (
    <FormDialog
      title={member ? `Edit ${member.email}` : 'Invite a member'}
      action={member ? 'Save' : 'Make the invitation'}
      onClose={onClose}
      onSubmit={save}
    >
      {!member && (
        <TextField
          label="E-mail address"
          path="/email"
          type="email"
          value={values.email}
          onChange={setter('email')}
          required
          maxLength={254}
          pattern={emailPattern}
          title="An address with a domain, such as maria@example.com"
        />
      )}
      <TextField label="Name" path="/name" value={values.name} onChange={setter('name')} maxLength={120} />
      <SelectField
        label="Role"
        path="/role"
        value={values.role}
        options={member ? roles : [['', 'Choose a role'], ...roles]}
        onChange={setter('role')}
        required
      />
    </FormDialog>
  )
}
