import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RoleCredentials {
  origin: string
  /** The requests so far: method and path, or the action of the token service. */
  asked: string[]
  close(): void
}

interface RoleKeys {
  accessKeyId: string
  secretAccessKey: string
}

/** The time at which the keys expire: an hour from now. */
const expiration = () => new Date(Date.now() + 3_600_000).toISOString()

async function listen(answer: (req: IncomingMessage, res: ServerResponse, body: string, asked: string[]) => void) {
  const asked: string[] = []
  const server = createServer((req, res) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('end', () => answer(req, res, Buffer.concat(pieces).toString(), asked))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { origin, asked, close }
}

/**
 * Stands in for AWS STS: exchanges the expected web identity token for keys of the expected role. For
 * AWS_ENDPOINT_URL_STS.
 */
export function startTokenService(expected: { token: () => string; role: string }, keys: RoleKeys): Promise<RoleCredentials> {
  return listen((_, res, body, asked) => {
    const form = new URLSearchParams(body)
    asked.push(String(form.get('Action')))
    res.setHeader('content-type', 'text/xml')
    const isExpected =
      form.get('Action') === 'AssumeRoleWithWebIdentity' &&
      form.get('WebIdentityToken') === expected.token() &&
      form.get('RoleArn') === expected.role
    if (!isExpected) {
      const error = '<Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>wrong token</Message></Error>'
      return res.writeHead(400).end(`<ErrorResponse>${error}</ErrorResponse>`)
    }
    res.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
        <Credentials><AccessKeyId>${keys.accessKeyId}</AccessKeyId><SecretAccessKey>${keys.secretAccessKey}</SecretAccessKey>
        <SessionToken>session-token</SessionToken><Expiration>${expiration()}</Expiration></Credentials>
        <AssumedRoleUser><Arn>${expected.role}</Arn><AssumedRoleId>role:atrium</AssumedRoleId></AssumedRoleUser>
      </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    )
  })
}

/**
 * Stands in for the metadata service of an instance, version 2: a PUT gives a session token, and every read needs it.
 * For AWS_EC2_METADATA_SERVICE_ENDPOINT.
 */
export function startInstanceMetadata(role: string, keys: RoleKeys): Promise<RoleCredentials> {
  const sessionToken = 'of-this-instance'
  const folder = '/latest/meta-data/iam/security-credentials/'
  return listen(({ method, url, headers }, res, _, asked) => {
    asked.push(`${method} ${url}`)
    if (method === 'PUT' && url === '/latest/api/token')
      return headers['x-aws-ec2-metadata-token-ttl-seconds'] === undefined ? res.writeHead(400).end() : res.end(sessionToken)
    if (headers['x-aws-ec2-metadata-token'] !== sessionToken) return res.writeHead(401).end()
    if (url === folder) return res.end(role)
    if (url !== `${folder}${role}`) return res.writeHead(404).end()
    const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = keys
    const found = {
      Code: 'Success',
      Type: 'AWS-HMAC',
      AccessKeyId,
      SecretAccessKey,
      Token: 'session-token',
      Expiration: expiration(),
    }
    res.end(JSON.stringify(found))
  })
}
