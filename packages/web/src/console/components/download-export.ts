import { AtriumError } from '@atrium/client/atrium-error'
import { fetchBytes } from '../api/api.ts'
import { download } from './download.ts'

/** The last line of an export begins with this. Without it, the export was cut. */
const END = '{"end":true,'
const END_BYTES = 200

const endsWhole = (text: string) =>
  text.endsWith('}\n') && text.slice(text.lastIndexOf('\n', text.length - 2) + 1).startsWith(END)

/** Reads an export of lines to its end, and offers it as a file. */
export async function downloadExport(path: string, name: string): Promise<void> {
  const lines = await fetchBytes(path)
  if (!endsWhole(await lines.slice(-END_BYTES).text()))
    throw new AtriumError({ status: 200, code: 'unexpected_answer', message: 'The export was cut. Start it again.' })
  download(`${name}-${new Date().toISOString().slice(0, 10)}.ndjson`, lines, 'application/x-ndjson')
}
