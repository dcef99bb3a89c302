import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { adminToken } from '../support/atrium-process.ts'
import { renderOverlay } from '../support/kubernetes-objects.ts'
import { skipWithout } from '../support/skip-without.ts'
import { type Image, outputOf } from './container.ts'
import { type Cluster, startCluster } from './kubernetes-cluster.ts'

/** Both overlays, with the image of all roles and that of the egress proxy, on one machine and in networks of their own. */
export function testKubernetes(images: () => { atrium: Image; proxy: Image }, folder: () => string): void {
  const skip = skipWithout('caddy', 'curl', 'ip', 'kubectl', 'openssl', 'pg_isready', 'redis-server')
  for (const overlay of ['staging', 'production'])
    describe(`the manifests of ${overlay}, started`, { skip }, () => {
      let cluster: Cluster
      before(async () => {
        const place = await mkdtemp(join(folder(), 'kubernetes-'))
        cluster = await startCluster(place, images(), renderOverlay(overlay))
      })
      after(() => cluster?.stop())

      test('the job migrates, and then the probes of each role answer', async () => {
        assert.match(cluster.pod('migrate').output(), /The database is up to date/)
        for (const name of ['api', 'worker', 'space', 'egress-proxy']) await cluster.assertProbes(name)
      })

      test('each role runs as its user, without rights, and writes to its own volumes alone', async () => {
        for (const name of ['api', 'worker', 'space', 'egress-proxy']) {
          const { user, writable } = cluster.allowed(name)
          const tries =
            'for d in / /app /etc /run /var/tmp /tmp /data; do if touch $d/x 2>/dev/null; then rm $d/x; echo $d; fi; done'
          const script = `id -u; ${tries}; sed -nE 's/^(CapEff|CapBnd|NoNewPrivs):\\s*/\\1=/p' /proc/1/status`
          const { output } = await cluster.pod(name).exec('sh', '-c', script)
          const none = '0'.repeat(16)
          assert.deepEqual(
            output.trim().split('\n').toSorted(),
            [user, ...writable, `CapBnd=${none}`, `CapEff=${none}`, 'NoNewPrivs=1'].map(String).toSorted(),
            name,
          )
        }
      })

      test('the ingress leads to the API and to the Space service, and a room passes from one to the other', async () => {
        const api = `https://${cluster.hosts.api}`
        const created = await cluster.ask(`${api}/v1/tenants`, [
          `-Hx-admin-token: ${adminToken}`,
          '-Hcontent-type: application/json',
          `-d${JSON.stringify({ name: 'Cluster' })}`,
        ])
        assert.equal(created.status, 201, created.text)
        const room = { room: `room-${randomUUID()}`, mk: Buffer.alloc(32, 5).toString('base64url') }
        const turn = { op: 'turn', ...room, message: { text: 'Ahoy', client_id: randomUUID() } }
        const said = await cluster.ask(`${api}/v1/space`, ['-H', 'content-type: application/json', '-d', JSON.stringify(turn)])
        assert.equal(said.status, 200, said.text)
      })

      test('Space reaches the hosts of its certificate’s egress through the proxy, and nothing else', async () => {
        const { text } = await cluster.ask(`https://${cluster.hosts.space}/cert.json`, [])
        const { signed } = JSON.parse(text) as { signed: string }
        const egress = (JSON.parse(signed) as { egress: string[] }).egress.filter((one) => one !== 'postgres')
        assert.equal(egress.length, 3, text)
        const script = `
          for (const url of process.argv.slice(1)) {
            const answer = await fetch(url).then(({ status }) => status, ({ cause }) => cause?.message ?? 'failed')
            console.log(url, answer)
          }`
        const others = ['https://s3.eu-central-1.amazonaws.com', `https://${cluster.hosts.space}`, 'https://elsewhere.example']
        const asked = [...egress, ...others].map((origin) => `${origin}/`)
        const { code, output } = await cluster.pod('space').exec('node', '--input-type=module', '-e', script, ...asked)
        assert.equal(code, 0, output)
        const lines = output
          .trim()
          .split('\n')
          .filter((line) => line.startsWith('https://'))
        for (const [at, line] of lines.entries())
          if (at < egress.length) assert.match(line, / (200|302|404)$/, output)
          else assert.doesNotMatch(line, / \d+$/, output)
        assert.equal(lines.length, asked.length, output)
        // The addresses that the proxy refuses exist: the proxy's own network has them.
        const direct = await cluster.ask(others[0]!, [])
        assert.equal(direct.status, 200)
        // Without the proxy there is no way, not even by address.
        const [program = '', ...args] = cluster.commandOn('space', [
          'curl',
          '-sSk',
          '--max-time',
          '3',
          `https://${cluster.outside}/`,
        ])
        assert.notEqual((await outputOf(program, args)).code, 0)
        // It logs names, never contents, where an engine collects them.
        const hostOf = (origin: string) => `CONNECT ${new URL(origin).hostname}:443`
        const log = () => cluster.pod('egress-proxy').output().split('\n')
        const missing = () => [
          ...egress.filter((origin) => !log().some((line) => line.includes('TCP_TUNNEL/200') && line.includes(hostOf(origin)))),
          ...others.filter((origin) => !log().some((line) => line.includes('TCP_DENIED/403') && line.includes(hostOf(origin)))),
        ]
        for (const deadline = Date.now() + 10_000; missing().length > 0; await delay(100))
          assert.ok(Date.now() < deadline, `no line of ${missing().join()} in:\n${log().join('\n')}`)
      })
    })
}
