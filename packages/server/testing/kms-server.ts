import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface KmsServer {
  endpoint: string
  region: string
  /** The environment that calls it. */
  env: Record<string, string>
  /** Base64, as `aws kms encrypt --encryption-context purpose=atrium-master-key` prints it. */
  wrap(key: Buffer): string
  /** From now on: as usual, an error of KMS, broken connections, or silence. */
  behave(how: KmsBehaviour): void
  requests(): number
  close(): Promise<void>
}

type KmsBehaviour = 'well' | 'broken' | 'silent' | { status: number; type: string }

const region = 'eu-central-1'
const accessKeyId = 'KMSTEST'
const secretAccessKey = 'a-secret-of-the-tests'

/**
 * Stands in for AWS KMS on loopback. It answers Decrypt, and recomputes the Signature Version 4 of each request from
 * what arrived, without the SDK.
 */
export async function startKms(): Promise<KmsServer> {
  const keys = new Map<string, Buffer>()
  let how: KmsBehaviour = 'well'
  let requests = 0
  const server = createServer((req, res) => {
    requests++
    const answer = (status: number, body: object) =>
      res.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body))
    const refuse = (type: string) => answer(400, { __type: type, message: 'refused' })
    void text(req).then((body) => {
      if (how === 'silent') return
      if (how === 'broken') return void req.socket.destroy()
      if (how !== 'well') return answer(how.status, { __type: how.type })
      const fault = faultOfSignature(req, body)
      if (fault) return refuse(fault)
      if (req.headers['x-amz-target'] !== 'TrentService.Decrypt') return refuse('UnknownOperationException')
      const { CiphertextBlob, EncryptionContext } = JSON.parse(body)
      const key = keys.get(CiphertextBlob)
      const isBound = JSON.stringify(EncryptionContext) === '{"purpose":"atrium-master-key"}'
      if (!key || !isBound) return refuse('InvalidCiphertextException')
      return answer(200, { KeyId: 'arn:aws:kms:eu-central-1:1:key/a', Plaintext: key.toString('base64') })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    endpoint,
    region,
    env: {
      ATRIUM_MASTER_KEY_KMS_REGION: region,
      ATRIUM_MASTER_KEY_KMS_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    wrap: (key) => {
      const ciphertext = randomBytes(120).toString('base64')
      keys.set(ciphertext, key)
      return ciphertext
    },
    behave: (next) => (how = next),
    requests: () => requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const fields =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/

/** The type of the error with which KMS refuses the signature; undefined: it is right. */
function faultOfSignature(req: IncomingMessage, body: string): string | undefined {
  const [, id, day, where, names = '', signature = ''] = fields.exec(req.headers.authorization ?? '') ?? []
  if (id === undefined) return 'IncompleteSignatureException'
  if (id !== accessKeyId) return 'UnrecognizedClientException'
  const time = String(req.headers['x-amz-date'])
  const signed = names.split(';')
  const needed = ['content-type', 'host', 'x-amz-date', 'x-amz-target']
  if (where !== region || !time.startsWith(day!) || needed.some((name) => !signed.includes(name)))
    return 'InvalidSignatureException'
  const headers = signed.map((name) => `${name}:${String(req.headers[name]).trim()}\n`).join('')
  const canonical = ['POST', '/', '', headers, names, sha256(body)].join('\n')
  const scope = `${day}/${region}/kms/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signing = [day!, region, 'kms', 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`))
  const isRight = timingSafeEqual(hmac(signing, toSign), Buffer.from(signature, 'hex'))
  return isRight ? undefined : 'InvalidSignatureException'
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest()
}

function sha256(data: string): string {
  return createHash('sha256').update(data).digest('hex')
}
