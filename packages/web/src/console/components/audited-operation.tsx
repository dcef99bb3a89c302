import { auditWords, isAuditedOperation } from '@atrium/contract/audit-words'

/** What an entry of the audit log is about, in words. The title has the name of the operation in the API. */
export function AuditedOperation({ name }: { name: string }) {
  if (isAuditedOperation(name)) return <b title={name}>{auditWords[name]}</b>
  // A newer version of the server may have recorded it, before an operator returned to this one.
  return (
    <span>
      An operation that this version of the console does not know: <code>{name}</code>
    </span>
  )
}
