import { auditWords, isAuditedOperation } from '@atrium/contract/audit-words'

/** What an entry of the audit log is about, with the operation's name of the API in the title. */
export function AuditedOperation({ name }: { name: string }) {
  if (isAuditedOperation(name)) return <b title={name}>{auditWords[name]}</b>
  // The server of a newer version may have recorded it, before a roll-back.
  return (
    <span>
      An operation that this version of the console does not know: <code>{name}</code>
    </span>
  )
}
