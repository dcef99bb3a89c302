import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { environmentWarnings } from './env.ts'

test('a variable that nothing reads is named, with the one that was probably meant, and never its value', () => {
  const warnings = environmentWarnings({
    ATRIUM_PUBLC_URL: 'https://secret.example',
    ATRIUM_COLOUR: 'secret',
    DATABASE_ULR: 'postgres://secret',
    OIDC_ISUER: 'https://secret.example',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://secret.example',
    NODE_ENV: 'prod',
  })
  assert.deepEqual(warnings, [
    'ATRIUM_PUBLC_URL is not a variable of Atrium and has no effect. Did you mean ATRIUM_PUBLIC_URL?',
    'ATRIUM_COLOUR is not a variable of Atrium and has no effect.',
    'DATABASE_ULR is not a variable of Atrium and has no effect. Did you mean DATABASE_URL?',
    'OIDC_ISUER is not a variable of Atrium and has no effect. Did you mean OIDC_ISSUER?',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not a variable of Atrium and has no effect.',
    'NODE_ENV is none of production, development and test. Only production turns the development tenant off.',
  ])
})

test('the variables of Atrium and of other programs get no warning', async () => {
  const source = await readFile(new URL('../../../space/src/space-config.ts', import.meta.url), 'utf8')
  const ofSpace = [...source.matchAll(/'([A-Z][A-Z0-9]*_[A-Z_0-9]+)'/g)].map(([, name]) => [name, 'x'])
  assert.ok(ofSpace.length > 10)
  const client = await readFile(new URL('../../../python/src/atrium/client.py', import.meta.url), 'utf8')
  const ofPython = [...client.matchAll(/"(ATRIUM_[A-Z_]+)"/g)].map(([, name]) => [name, 'x'])
  assert.ok(ofPython.length >= 4)
  const others = {
    PATH: '/bin',
    HOME: '/',
    S3_MOUNT: 'x',
    DATABASE_POOL: '5',
    TURN_SERVER_ID: '1',
    NODE_OPTIONS: '--x',
    OTEL_PROPAGATORS: 'none',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: '/ca.pem',
    POST: '1',
    // Set and empty, as Compose passes a variable that is not set.
    ATRIUM_COLOUR: '',
  }
  assert.deepEqual(
    environmentWarnings({ ...others, ...Object.fromEntries([...ofSpace, ...ofPython]), NODE_ENV: 'production', PORT: '1' }),
    [],
  )
})
