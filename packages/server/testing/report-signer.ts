import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Got } from './http.ts'
import type { TestApi } from './test-api.ts'

/** A key that signs reports of leaked keys, as GitHub has some. */
export class ReportSigner {
  readonly #pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly pem = this.#pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  readonly identifier = createHash('sha256').update(this.pem).digest('hex')

  /** The headers of a report with this body. */
  headers(body: string): Record<string, string> {
    const signature = sign('sha256', Buffer.from(body), { key: this.#pair.privateKey, dsaEncoding: 'der' })
    return {
      'github-public-key-identifier': this.identifier,
      'github-public-key-signature': signature.toString('base64'),
    }
  }
}

/** The list in which GitHub publishes its keys. */
export function publishedKeys(signers: ReportSigner[]): string {
  return JSON.stringify({
    public_keys: signers.map(({ identifier, pem }, i) => ({ key_identifier: identifier, key: pem, is_current: i === 0 })),
  })
}

export interface ReportKeyServer {
  url: string
  /** What is published. */
  signers: ReportSigner[]
  /** hangs: a request is never answered. */
  mode: 'answers' | 'fails' | 'hangs'
  /** How many requests came. */
  asked: number
  close(): void
}

/** A stand-in for the address at which GitHub publishes its keys. */
export async function startReportKeyServer(...signers: ReportSigner[]): Promise<ReportKeyServer> {
  const http = createServer((_req, res) => {
    server.asked++
    if (server.mode === 'hangs') return
    res.writeHead(server.mode === 'fails' ? 500 : 200, { 'content-type': 'application/json' })
    res.end(publishedKeys(server.signers))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: ReportKeyServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/meta/public_keys/secret_scanning`,
    signers,
    mode: 'answers',
    asked: 0,
    close: () => {
      http.close()
      http.closeAllConnections()
    },
  }
  return server
}

/** Sends the text of a report, signed unless other headers are given. */
export async function sendReport(
  api: Pick<TestApi, 'baseUrl'>,
  signer: ReportSigner,
  text: string,
  headers: Record<string, string> = signer.headers(text),
): Promise<Got> {
  const res = await fetch(`${api.baseUrl}/tenant/keys/leaks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  })
  const answer = await res.text()
  return { status: res.status, headers: res.headers, text: answer, body: JSON.parse(answer) }
}
