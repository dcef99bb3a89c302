import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'

/** The first bytes of every age file (age-encryption.org/v1). */
const ageMagic = Buffer.from('age-encryption.org/')

/** Encrypts to age recipients (`age1…`), so that the machine that makes backups cannot read them. */
export async function encryptTo(recipients: readonly string[], plain: Readable): Promise<Readable> {
  // Loaded on demand, because it takes longer to load than everything else.
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch {
      throw new StartError(`--recipient must be an age public key (age1…), not "${recipient}"`)
    }
  }
  const web = Readable.toWeb(plain) as ReadableStream<Uint8Array>
  return Readable.fromWeb((await encrypter.encrypt(web as never)) as unknown as ReadableStream)
}

/**
 * Returns the archive in `source`, decrypted if it is an age file. `identities` are the lines of a file that
 * age-keygen makes.
 */
export async function openArchive(source: Readable, identities: string | undefined): Promise<AsyncIterable<Buffer>> {
  const chunks = toBuffers(source)
  const begun = await chunks.next()
  const first = begun.done ? Buffer.alloc(0) : begun.value
  const whole = resume(first, chunks)
  if (!first.subarray(0, ageMagic.length).equals(ageMagic)) return whole
  if (identities === undefined)
    throw new StartError('the archive is encrypted: name the file with its age identity (--identity FILE)')
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  const keys = identities
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  try {
    for (const key of keys) decrypter.addIdentity(key)
    const plain = await decrypter.decrypt(Readable.toWeb(Readable.from(whole)) as never)
    return toBuffers(Readable.fromWeb(plain as unknown as ReadableStream))
  } catch (error) {
    throw new StartError(`the archive cannot be decrypted with this identity: ${messageOf(error)}`)
  }
}

async function* resume(first: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

async function* toBuffers(source: Readable): AsyncGenerator<Buffer, void> {
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  }
}
