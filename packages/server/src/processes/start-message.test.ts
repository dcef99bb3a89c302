import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCredential } from '@atrium/contract/tokens'
import { formatVerifier, makeVerifier, signatureTypes } from '@atrium/log/note'
import { ed25519PublicKey, witnessVerifier } from '@atrium/log/signing'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets } from '#config/secrets.ts'
import { publishedKeys, ReportSigner } from '#testing/report-signer.ts'
import { packStart, unpackStart } from './start-message.ts'

test('a child process gets the settings and the secrets that its parent has, in the same form', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-start-message-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const fileWith = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const witnesses = ['w1', 'w2'].map((name, i) => {
    const verifier = witnessVerifier(`${name}.example.org`, Buffer.alloc(32, i + 1))
    return `witness ${name} ${formatVerifier(verifier)} http://127.0.0.1:9/${name}`
  })
  const log = makeVerifier('log.example.org', signatureTypes.note, ed25519PublicKey(Buffer.alloc(32, 3)))
  const policy = [`log ${formatVerifier(log)}`, ...witnesses, 'group both all w1 w2', 'quorum both\n'].join('\n')
  // All that is undefined otherwise is set, because JSON has no undefined.
  const env = readEnv({
    ATRIUM_LOG_POLICY: fileWith('policy', policy),
    ATRIUM_LEAKS_KEYS_FILE: fileWith('keys.json', publishedKeys([new ReportSigner(), new ReportSigner()])),
    ATRIUM_SPACE_PUBLISHABLE_KEY: makeCredential('publishableKey', randomBytes),
    DATABASE_URL: 'postgresql://db.example/atrium',
    DATABASE_DIRECT_URL: 'postgresql://direct.example/atrium',
    SPACE_DATABASE_URL: 'postgresql://db.example/space',
    SPACE_DATABASE_DIRECT_URL: 'postgresql://direct.example/space',
    OIDC_ISSUER: 'https://login.example',
    OIDC_CLIENT_ID: 'rooms',
    ATRIUM_CONSOLE_OIDC_ISSUER: 'https://login.example',
    ATRIUM_CONSOLE_OIDC_CLIENT_ID: 'console',
    ATRIUM_CONSOLE_OIDC_CLIENT_SECRET: 'console-secret',
    ATRIUM_METRICS_PORT: '9090',
    ATRIUM_METRICS_TOKEN: 'metrics-token-0123456789',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=x',
    STRIPE_SECRET_KEY: 'sk_test_0123456789',
    STRIPE_WEBHOOK_SECRET: 'whsec_0123456789',
    ATRIUM_STRIPE_API: 'http://127.0.0.1:9',
    TURN_URLS: 'turn:turn.example.com:3478',
    TURN_SECRET: 'turn-secret-0123456789',
    ATRIUM_BLOBS: 's3',
    S3_ENDPOINT: 'https://s3.example',
    S3_BUCKET: 'atrium',
    S3_REGION: 'eu-central-1',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'key',
  })
  const config = readConfig(env)
  const masterKeys = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)] as const
  const given = readGivenSecrets(env)
  const secrets = { ...given, adminToken: 'test-operator-token-0123456789', masterKeys, madeFiles: ['/data/master-key'] }
  const sent = JSON.stringify(packStart(config, secrets, 'postgresql://db.example/atrium'))
  assert.deepEqual(unpackStart(JSON.parse(sent)), { config, secrets, databaseUrl: 'postgresql://db.example/atrium' })
})
