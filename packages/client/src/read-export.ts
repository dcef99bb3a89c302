import type { ExportedItem, ItemExportLine } from '@atrium/contract/item-export'
import type { StreamBody } from '@atrium/contract/streams'
import { makeError } from './error-of-answer.ts'
import { textOf } from './text-of.ts'

/**
 * Iterates over the items of an export (JSON lines) while they arrive. A reader that stops early ends the request. Throws
 * the errors of the call, the signal's reason, and NetworkError if the connection ends before the last line of the
 * export: items are missing then.
 *
 * @example
 * for await (const item of readExport(client.exportItems, { id, collectionToken })) await archive(item)
 */
export async function* readExport<Input extends { signal?: AbortSignal | undefined }>(
  call: (input: Input) => Promise<{ data: StreamBody<ItemExportLine> }>,
  input: Input,
): AsyncGenerator<ExportedItem, void, undefined> {
  const { data } = await call(input)
  let items = 0
  for await (const line of linesOf(data, input.signal)) {
    const value = JSON.parse(line) as ItemExportLine
    if ('end' in value) {
      if (value.items === items) return
      break
    }
    if ('format' in value) continue
    items++
    input.signal?.throwIfAborted()
    yield value
  }
  input.signal?.throwIfAborted()
  throw makeError({ status: 0, code: 'network_error', message: 'The export ended before its last line' })
}

/** The complete lines of a body. Ends when the connection does. */
async function* linesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<string> {
  let text = ''
  for await (const part of textOf(body, signal)) {
    const lines = (text + part).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}
