import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { isPublicAddress } from '../../packages/server/src/ports/egress/public-address.ts'
import { send } from '../../packages/server/testing/http.ts'
import { certificateKey, validCertificate } from '../../packages/server/testing/loopback-certificates.ts'
import { startTestApi, type TestApi } from '../../packages/server/testing/test-api.ts'
import { skipWithout } from '../support/skip-without.ts'
import { freeRelayPort, skipWithoutCoturn, startCoturn, type CoturnProcess } from '../support/coturn-process.ts'
import { openRelay, runUclientAs, TurnRefusal, type Credentials, type IceServer } from '../support/turn-clients.ts'

const guide = await readFile(new URL('../../docs/turn.md', import.meta.url), 'utf8')
const secret = 'made by openssl'.padEnd(64, '0').replaceAll(' ', '-')
const withIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

/** The guide's code block in this language that begins with this text. */
function codeOf(language: string, begins: string): string[] {
  const code = [...guide.matchAll(/```(\w+)\n([\s\S]*?)```/g)].find(
    ([, name, text]) => name === language && text!.startsWith(begins),
  )
  assert.ok(code, `docs/turn.md has no such ${language}`)
  return code[2]!.trimEnd().split('\n')
}

const settings = codeOf('conf', '#').filter((line) => line && !line.startsWith('#'))

describe("the guide's relay", { skip: skipWithoutCoturn, timeout: 240_000 }, () => {
  let ports: { plain: number; tls: number }
  let folder: string
  let coturn: CoturnProcess
  let api: TestApi
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atrium-turn-guide-'))
    await Promise.all([
      writeFile(join(folder, 'fullchain.pem'), validCertificate),
      writeFile(join(folder, 'privkey.pem'), certificateKey),
    ])
    ports = { plain: await freeRelayPort(), tls: await freeRelayPort() }
    coturn = await startCoturn(adapted(ports))
    api = await startTestApi({ turnUrls: documentedUrls(ports), turnSecret: secret })
  })
  after(async () => {
    await api?.close()
    await coturn?.end()
    await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  })

  /** The guide's lines with this machine's paths and addresses, otherwise unchanged. */
  function adapted({ plain, tls }: typeof ports): string[] {
    const here: Record<string, string | undefined> = {
      'static-auth-secret': secret,
      'listening-port': String(plain),
      'tls-listening-port': String(tls),
      cert: join(folder, 'fullchain.pem'),
      pkey: join(folder, 'privkey.pem'),
    }
    const lines = settings.map((line) => {
      const [name] = line.split('=') as [string]
      return here[name] ? `${name}=${here[name]}` : line
    })
    for (const name of Object.keys(here))
      assert.ok(
        settings.some((line) => line.startsWith(`${name}=`)),
        name,
      )
    const loopback = ['listening-ip=127.0.0.1', 'relay-ip=127.0.0.1', ...(withIpv6 ? ['relay-ip=::1'] : [])]
    // What it says is read here.
    return [...lines.filter((line) => line !== 'syslog'), ...loopback]
  }

  function documentedUrls({ plain, tls }: typeof ports): string {
    const [line = ''] = codeOf('sh', 'TURN_URLS=')
    return line
      .slice('TURN_URLS='.length)
      .replaceAll('turn.example.com:3478', `127.0.0.1:${plain}`)
      .replaceAll('turn.example.com:5349', `127.0.0.1:${tls}`)
  }

  async function ask(): Promise<IceServer> {
    const { publishableKey: key } = await api.makeTenant()
    const { body } = await send(api, 'GET', '/turn', { key })
    return body.data.iceServers[0]
  }

  const started = async (more: string[]) => {
    const plain = await freeRelayPort()
    const tls = await freeRelayPort()
    return { plain, tls, coturn: await startCoturn([...adapted({ plain, tls }), ...more]) }
  }

  test('coturn understands each line', () => {
    const complaints = coturn
      .output()
      .split('\n')
      .filter((line) => /bad configuration|unknown|unrecognized|cannot|error|warning|not found/i.test(line))
    assert.deepEqual(complaints, [])
    assert.match(coturn.output(), /Default realm: turn\.example\.com/)
  })

  for (const transport of ['udp', 'tcp', 'tls'] as const) {
    test(`credentials open a relay over ${transport}, at an address that TURN_URLS lists`, async (t) => {
      const server = await ask()
      const port = transport === 'tls' ? ports.tls : ports.plain
      const scheme = transport === 'tls' ? 'turns' : 'turn'
      assert.ok(server.urls.includes(`${scheme}:127.0.0.1:${port}?transport=${transport === 'tls' ? 'tcp' : transport}`))
      await openRelay(t, port, server, { transport, tlsOptions: { ca: validCertificate } })
    })
  }

  test('it relays to public addresses, and to no other', { timeout: 120_000 }, async (t) => {
    const edges = settings.flatMap((line) => (line.startsWith('denied-peer-ip=') && !line.includes(':') ? edgesOf(line) : []))
    const more = ['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.20.0.1', '192.0.0.1', '192.0.2.1']
    more.push(
      '192.88.99.1',
      '192.168.1.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
    )
    more.push('1.1.1.1', '93.184.215.14')
    assert.ok(edges.length >= 40)
    const relay = await openRelay(t, ports.plain, await ask())
    for (const address of new Set([...edges, ...more])) {
      const allowed = await relay.permit(address).then(
        () => true,
        (error: Error) => {
          assert.deepEqual(error, new TurnRefusal('403 Forbidden IP'), address)
          return false
        },
      )
      assert.equal(allowed, isPublicAddress(address), address)
    }
  })

  test('nor to any other of IPv6', { skip: withIpv6 ? false : 'no IPv6 here', timeout: 120_000 }, async () => {
    const ranges = settings.filter((line) => line.startsWith('denied-peer-ip=') && line.includes(':'))
    const edges = ranges.flatMap((line) => line.slice('denied-peer-ip='.length).split('-'))
    const inside = [
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '64:ff9b:1::1',
      '100::1',
      '2001:db8::1',
      '3fff::1',
      '5f00::1',
      '2002:a00:1::1',
      '2001:0:a00:1::1',
      'fd00::1',
      'fe80::1',
      'ff02::1',
    ]
    const server = await ask()
    for (const address of new Set([...edges, ...inside])) {
      assert.ok(!isPublicAddress(address), address)
      const { output } = await runUclientAs(
        ['-x', '-c', '-p', String(ports.plain), '-u', 'USERNAME', '-w', 'CREDENTIAL', '-e', address, '127.0.0.1'],
        server,
      )
      assert.match(output, /error 403 \(Forbidden IP\)/, address)
    }
  })

  test("the guide's request gives credentials", { skip: skipWithout('curl') }, async () => {
    const [command = ''] = codeOf('sh', 'curl')
    const { id, publishableKey } = await api.makeTenant()
    const line = command.replace('http://localhost:8787', api.origin)
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, PK: publishableKey } })
    assert.match(JSON.parse(stdout).data.iceServers[0].username, new RegExp(`^\\d+:${id}$`))
  })

  test("the guide's commands try it, over UDP and TCP", async (t) => {
    const relay = await started(['allow-loopback-peers', 'allowed-peer-ip=127.0.0.1'])
    t.after(relay.coturn.end)
    const commands = codeOf('sh', 'turnutils_uclient')
    assert.equal(commands.length, 2)
    for (const command of commands) {
      const server = await ask()
      const { accepted, output } = await runUclientAs(argumentsOf(command, relay), server)
      assert.ok(accepted && output.includes('Total lost packets 0'), output)
    }
  })

  test('a second secret is taken beside the first, and the quota is counted by tenant', async (t) => {
    const next = 'the-next-secret-of-this-relay'
    const relay = await started([`static-auth-secret=${next}`, 'user-quota=1'])
    t.after(relay.coturn.end)
    const later = await startTestApi({ turnUrls: documentedUrls(relay), turnSecret: next })
    t.after(() => later.close())
    const [one, two] = await Promise.all([later.makeTenant(), later.makeTenant()])
    const of = async (key: string): Promise<Credentials> => (await send(later, 'GET', '/turn', { key })).body.data.iceServers[0]
    await openRelay(t, relay.plain, await of(one.publishableKey))
    await assert.rejects(openRelay(t, relay.plain, await of(one.secretKey)), new TurnRefusal('486 Allocation Quota Reached'))
    await openRelay(t, relay.plain, await of(two.publishableKey))
    // Made under the first secret.
    await openRelay(t, relay.plain, await ask())
  })

  test(
    "the guide's look at the certificate passes, and fails for one that a browser would not take",
    { skip: skipWithout('openssl') },
    async () => {
      const [command = ''] = codeOf('sh', 'openssl')
      const [program = '', ...args] = command.replace('turn.example.com:5349', `127.0.0.1:${ports.tls}`).split(' ')
      const look = (more: string[]) => spawnSync(program, [...args, ...more], { input: '', encoding: 'utf8', timeout: 20_000 })
      const good = look(['-CAfile', join(folder, 'fullchain.pem')])
      assert.equal(good.status, 0, good.stderr)
      assert.match(good.stderr, /Verification: OK/)
      assert.notEqual(look([]).status, 0)
    },
  )
})

function argumentsOf(command: string, { plain, tls }: { plain: number; tls: number }): string[] {
  const here: Record<string, string | undefined> = { 3478: String(plain), 5349: String(tls), 'turn.example.com': '127.0.0.1' }
  const [program, ...args] = command.split(' ')
  assert.equal(program, 'turnutils_uclient')
  return args.map((arg) => here[arg] ?? arg)
}

/** The first and last address of the range, and the adjacent addresses outside it. */
function edgesOf(line: string): string[] {
  const [first, last] = line.slice('denied-peer-ip='.length).split('-').map(numberOf) as [number, number]
  return [first - 1, first, last, last + 1].filter((number) => number >= 0 && number < 2 ** 32).map(addressOf)
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.')
}
