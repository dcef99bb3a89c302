import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { CheckField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'

/** `YYYY-MM-DDTHH:MM` in the time zone of the browser, as an input of that type takes it. */
function localText(timeMs: number): string {
  return new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A call ends after some seconds; with very many deliveries, the next one goes on. */
async function recoverAll(id: string, body: { since: string; pending: boolean }): Promise<number> {
  let queued = 0
  for (let cursor: string | undefined; ;) {
    const { data } = await api.recoverDeliveries({ id, body: { ...body, ...(cursor !== undefined && { cursor }) } })
    queued += data.queued
    cursor = data.next_cursor
    if (cursor === undefined) return queued
  }
}

export function RecoverForm({ id, onClose, onDone }: { id: string; onClose: () => void; onDone: (queued: number) => void }) {
  const [since, setSince] = useState(() => localText(Date.now() - 86_400_000))
  const [pending, setPending] = useState(true)
  // The browser's field also accepts years that Date cannot represent.
  const problem = since !== '' && Number.isNaN(Date.parse(since)) ? 'This is not a date.' : undefined
  const body = () => ({ since: new Date(since).toISOString(), pending })
  return (
    <FormDialog
      title="Send failed deliveries again"
      action="Send again"
      onClose={onClose}
      curl={() => ['recoverDeliveries', { id, body: body() }]}
      onSubmit={async () => onDone(await recoverAll(id, body()))}
    >
      <TextField
        label="Of events since"
        path="/since"
        type="datetime-local"
        value={since}
        onChange={setSince}
        required
        problem={problem}
        hint="In your time zone. What succeeded is not sent again. Your server recognises a repeat by webhook-id."
      />
      <CheckField
        path="/pending"
        label="Also those that failed and are tried again later"
        checked={pending}
        onChange={setPending}
      />
    </FormDialog>
  )
}
