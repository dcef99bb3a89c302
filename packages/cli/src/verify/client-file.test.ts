import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateKeyPairSync } from 'node:crypto'
import { makeCertificate } from '@atrium/space/certificate/certificate'
import { clientFile, json, startStubService, type StubService } from './testing/stub-service.ts'
import { verify } from './verify.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-client-file-'))
const file = join(folder, 'space.html')
let stub: StubService

before(async () => {
  writeFileSync(file, clientFile)
  stub = await startStubService()
})
after(() => {
  stub.close()
  rmSync(folder, { recursive: true })
})

async function run(client: string) {
  const lines: string[] = []
  const code = await verify(stub.origin, { client, write: (line) => lines.push(line) })
  return { code, text: lines.join('\n') }
}

test('a file from the disk is the one that the service signs', async () => {
  const { code, text } = await run(file)
  assert.equal(code, 0, text)
  assert.match(text, /^proved .*the app in one file of this service/m)
})

test('an altered file, a missing one, and a signature by another key or of another text fail', async () => {
  const other = join(folder, 'other.html')
  writeFileSync(other, `${clientFile} `)
  assert.match((await run(other)).text, /^FAILED .*the service signs/m)
  assert.equal((await run(other)).code, 1)
  assert.match((await run(join(folder, 'none.html'))).text, /^FAILED .*ENOENT/m)
  const { privateKey: signingKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const stranger = makeCertificate({ build: stub.build, signingKey, service: 'atrium-space', egress: [] })
  const answers: readonly (readonly [object | undefined, RegExp])[] = [
    [stranger.client, /not by the certificate's key/],
    [stub.certificate.cert, /must contain v, service, gitCommit, path, sha256/],
    [{}, /not signed with ES256/],
  ]
  for (const [answer, said] of answers) {
    stub.answers['GET /client.json'] = json(answer)
    assert.match((await run(file)).text, said)
  }
})
