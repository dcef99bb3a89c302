import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startLoopClock } from '#testing/busy-machine.ts'
import { send } from '#testing/http.ts'
import { ReportSigner, sendReport, startReportKeyServer } from '#testing/report-signer.ts'
import { startTestApi } from '#testing/test-api.ts'

// Examples of GitHub's documentation of the partner program at several times, with the keys that signed them.
const published = {
  public_keys: [
    {
      key_identifier: '90a421169f0a406205f1563a953312f0be898d3c7b6c06b681aa86a874555f4a',
      key: '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9MJJHnMfn2+H4xL4YaPDA4RpJqUq\nkCmRCBnYERxZanmcpzQSXs1X/AljlKkbJ8qpVIW4clayyef9gWhFbNHWAA==\n-----END PUBLIC KEY-----\n',
      is_current: false,
    },
    {
      key_identifier: 'bcb53661c06b4728e59d897fb6165d5c9cda0fd9cdf9d09ead458168deb7518c',
      key: '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAGMWO8XgCamYKMJS6jc/qgvSlAd\nAjPuDPRcXU22YxgBrz+zoN19MzuRyW87qEt9/AmtoNP5GrobzUvQSyJFVw==\n-----END PUBLIC KEY-----\n',
      is_current: true,
    },
    {
      key_identifier: 'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d',
      key: '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsz9ugWDj5jK5ELBK42ynytbo38gP\nHzZFI03Exwz8Lh/tCfL3YxwMdLjB+bMznsanlhK0RwcGP3IDb34kQDIo3Q==\n-----END PUBLIC KEY-----\n',
      is_current: true,
    },
  ],
}
const examples = [
  {
    by: 1,
    body: '[{"source":"commit","token":"some_token","type":"some_type","url":"https://example.com/base-repo-url/"}]',
    signature: 'MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg==',
  },
  {
    by: 0,
    body: '[{"token":"some_token","type":"some_type","url":"some_url"}]',
    signature: 'MEUCIQDKZokqnCjrRtw0tni+2Ltvl/uiMJ1EGumEsp1BsNr32AIgQY1YXD2nlj+XNfGK4rBfkMJ1JDOQcYXxa2sY8FNkrKc=',
  },
  {
    by: 2,
    body: '[{"token":"some_token","type":"some_type","url":"some_url","source":"some_source"}]',
    signature: 'MEUCIFLZzeK++IhS+y276SRk2Pe5LfDrfvTXu6iwKKcFGCrvAiEAhHN2kDOhy2I6eGkOFmxNkOJ+L2y8oQ9A2T9GGJo6WJY=',
  },
  {
    by: 2,
    body: '[{"token":"NMIfyYncKcRALEXAMPLE","type":"mycompany_api_token","url":"https://github.com/octocat/Hello-World/blob/12345600b9cbe38a219f39a9941c9319b600c002/foo/bar.txt","source":"content"}]',
    signature: 'MEUCIQDfLvT8/zM8F1aB3cM0ZwyeWF1m5YR6IhcUIv1OKQYL0wIgBZ5lVXB3gHK+dT8+xt0WgRVLqvsTPFiDO9QP/7eJ4yE=',
  },
]

const signer = new ReportSigner()

test("the examples of GitHub's documentation are accepted with keys out of a file, and refused when a byte differs", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-report-keys-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'keys.json')
  await writeFile(file, JSON.stringify(published))
  const api = await startTestApi({ leaksKeysFile: file })
  t.after(() => api.close())
  for (const { by, body, signature } of examples) {
    const headers = {
      'github-public-key-identifier': published.public_keys[by]!.key_identifier,
      'github-public-key-signature': signature,
    }
    const got = await sendReport(api, signer, body, headers)
    assert.equal(got.status, 200, got.text)
    assert.equal(got.body[0].label, 'false_positive')
    const changed = body.replace('"type":"', '"type":"x')
    assert.equal((await sendReport(api, signer, changed, headers)).body.error.code, 'unauthorized')
  }
})

for (const mode of ['hangs', 'fails'] as const)
  test(`while the address of the keys ${mode}, a report is answered 503 and does nothing`, async (t) => {
    const keyServer = await startReportKeyServer(signer)
    t.after(() => keyServer.close())
    keyServer.mode = mode
    const api = await startTestApi({ egress: 'loopback', leaksKeysUrl: keyServer.url })
    t.after(() => api.close())
    const { secretKey: key } = await api.makeTenant()
    const body = JSON.stringify([{ token: key, type: 'atrium_secret_key' }])
    const now = startLoopClock(t)
    const startedAt = now()
    const answers = await Promise.all([1, 2, 3].map(() => sendReport(api, signer, body)))
    assert.ok(now() - startedAt < 8_000)
    for (const got of answers) {
      assert.deepEqual([got.status, got.body.error.code], [503, 'unavailable'])
      assert.equal(got.headers.get('retry-after'), '30')
    }
    const again = now()
    assert.equal((await sendReport(api, signer, body)).status, 503)
    assert.ok(now() - again < 1_000, 'the address is not asked again at once')
    assert.equal(keyServer.asked, 1)
    assert.deepEqual((await send(api, 'GET', '/tenant/keys/leaks', { key })).body.data, [])
  })

test('the address of the keys must be public', async (t) => {
  const keyServer = await startReportKeyServer(signer)
  t.after(() => keyServer.close())
  const api = await startTestApi({ leaksKeysUrl: keyServer.url })
  t.after(() => api.close())
  assert.equal((await sendReport(api, signer, '[{"token":"a","type":"b"}]')).status, 503)
  assert.equal(keyServer.asked, 0)
})
