import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { readAtMost } from '@atrium/contract/joined-pieces'
import { codeOf, fieldOf, messageOf } from '#errors/caught.ts'
import { standardCredentials } from '#ports/aws/credentials.ts'
import { UnwrapError, type KeyWrapping } from './key-wrapping.ts'

const answerMs = 5_000
/** An answer with the largest plaintext of KMS, 4,096 bytes, has about 6 KiB. */
const maxAnswerBytes = 64 * 1024

/**
 * KMS authenticates the context together with the ciphertext. A policy of the key can require it, and no other
 * ciphertext of the same key is accepted as a master key.
 */
const encryptionContext = { purpose: 'atrium-master-key' }

/** Errors of KMS after which the same request may succeed. */
const temporary = new Set([
  'DependencyTimeoutException',
  'KeyUnavailableException',
  'KMSInternalException',
  'LimitExceededException',
  'ServiceUnavailableException',
  'ThrottlingException',
])

export interface AwsKmsOptions {
  endpoint: string
  region: string
}

/**
 * The Decrypt operation of AWS KMS, and of services with its protocol, signed with Signature Version 4 and the
 * credentials of the standard chain.
 *
 * @see https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html
 */
export class AwsKms implements KeyWrapping {
  readonly #endpoint: URL
  readonly #signer: SignatureV4

  constructor({ endpoint, region }: AwsKmsOptions) {
    this.#endpoint = new URL(endpoint)
    const credentials = standardCredentials({ region, withinMs: answerMs })
    this.#signer = new SignatureV4({ credentials, region, service: 'kms', sha256: Sha256 })
  }

  async unwrap(ciphertext: Buffer): Promise<Buffer> {
    const body = JSON.stringify({ CiphertextBlob: ciphertext.toString('base64'), EncryptionContext: encryptionContext })
    const { status, text } = await this.#post('TrentService.Decrypt', body).catch((error: unknown) => {
      // The message of fetch is only "fetch failed".
      const reason = codeOf(fieldOf(error, 'cause')) ?? messageOf(error)
      throw new UnwrapError(`KMS does not answer (${reason})`, { isTemporary: true, cause: error })
    })
    const answer = parse(text)
    if (status === 200) return plaintextOf(answer)
    // `com.amazonaws.kms#DisabledException` in some versions of the protocol.
    const type = String(fieldOf(answer, '__type') ?? '').replace(/^.*#/, '')
    const isTemporary = status >= 500 || status === 429 || temporary.has(type)
    throw new UnwrapError(`KMS answers ${status}${type === '' ? '' : ` ${type}`}`, { isTemporary })
  }

  async #post(target: string, body: string): Promise<{ status: number; text: string }> {
    const { protocol, hostname, port, host, href } = this.#endpoint
    const signed = await this.#signer.sign({
      method: 'POST',
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: '/',
      headers: { host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
      body,
    })
    const res = await fetch(href, {
      method: 'POST',
      headers: signed.headers,
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(answerMs),
    })
    const answer = await readAtMost(res.body, maxAnswerBytes)
    if (answer === undefined) throw new Error('the answer is too long')
    return { status: res.status, text: answer.toString() }
  }
}

function plaintextOf(answer: unknown): Buffer {
  const text = fieldOf(answer, 'Plaintext')
  const key = Buffer.from(typeof text === 'string' ? text : '', 'base64')
  if (key.length !== 32)
    throw new UnwrapError(`KMS decrypts it to ${key.length} bytes, and a master key has 32`, { isTemporary: false })
  return key
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** SHA-256 and HMAC-SHA-256 in the form that the signer takes. */
class Sha256 {
  readonly #secret: Parameters<typeof createHmac>[1] | undefined
  #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : bytesOf(secret)
    this.#hash = this.#open()
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = this.#open()
  }

  #open(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}
