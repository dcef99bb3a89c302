import { type ClientKeys, sealClientLine, type Seen } from '@atrium/sealing/client-sealed'

/** The service refuses a longer line. */
export const MAX_LINE_BYTES = 65_536

/** The message is too long for a line, because of the space that its characters take. Nothing was written. */
export class LineTooLongError extends TypeError {
  override readonly name = 'LineTooLongError'

  constructor() {
    super('A line of the room cannot hold this text: in UTF-8 it takes more than 46,000 bytes, or 34,700 in a room with a list.')
  }
}

/** Seals a line for `append`. Throws LineTooLongError. */
export async function sealLine(
  keys: ClientKeys,
  { seen, content }: { seen: Seen | undefined; content: string },
): Promise<string> {
  const line = await sealClientLine(keys, { seen, content })
  if (line.length > MAX_LINE_BYTES) throw new LineTooLongError()
  return line
}
