import type { InputOf } from '@atrium/client/call'
import { createClient } from '@atrium/client/create-client'
import type { Operations, ServedOperationId } from '@atrium/contract/table'

/** The input of an operation of the contract. */
export type Input<Id extends ServedOperationId> = InputOf<Operations[Id]>

/** An operation and its input, to show as a command. */
export type CurlCall = { [Id in ServedOperationId]: readonly [Id, Input<Id>] }[ServedOperationId]

/**
 * The command that makes the same call from a shell. It names environment variables in place of credentials:
 * $ATRIUM_KEY, a secret key; $ATRIUM_ADMIN_TOKEN, an operator's; $COLLECTION_TOKEN, the collection's admin token.
 */
export async function curlOf([id, input]: CurlCall): Promise<string> {
  let command = ''
  const record: typeof fetch = async (url, init) => {
    command = commandOf(String(url), init ?? {})
    return new Response('{"data":null}', { headers: { 'content-type': 'application/json' } })
  }
  const client = createClient({
    baseUrl: location.origin,
    key: '$ATRIUM_KEY',
    adminToken: '$ATRIUM_ADMIN_TOKEN',
    fetch: record,
    retries: 0,
  })
  await (client[id] as (input: unknown) => Promise<unknown>)(input)
  return command
}

function commandOf(url: string, { method = 'GET', headers, body }: RequestInit): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`]
  for (const [name, value] of Object.entries(headers as Record<string, string>)) {
    // Only the names of variables are in double quotes, where a shell replaces them.
    const isVariable = /^(?:Bearer )?\$[A-Z_]+$/.test(value)
    const header = `${name}: ${name === 'idempotency-key' ? '$(uuidgen)' : value}`
    lines.push(`  -H ${isVariable || name === 'idempotency-key' ? `"${header}"` : quoted(header)}`)
  }
  if (typeof body === 'string') lines.push(`  -d ${quoted(body)}`)
  return lines.join(' \\\n')
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
