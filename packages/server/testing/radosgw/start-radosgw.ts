import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../../../tests/support/atrium-process.ts'
import { skipWithout } from '../../../../tests/support/skip-without.ts'
import { cephConf } from './ceph-conf.ts'

const run = promisify(execFile)
const stepTimeoutMs = 30_000

export interface Radosgw {
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  stop(): Promise<void>
}

/** The reason why tests with a real S3 server cannot run here, or false if they can. For `test(..., { skip })`. */
export const skipWithoutRadosgw = skipWithout('ceph', 'ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'setpriv')

/**
 * Starts a real S3 server: Ceph's gateway in a temporary folder, with a user and an empty bucket. Each step has a
 * timeout. stop() removes everything.
 */
export async function startRadosgw(): Promise<Radosgw> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-ceph-'))
  const [monPort, gatewayPort] = await Promise.all([freePort(), freePort()])
  const conf = join(folder, 'ceph.conf')
  const osdId = randomUUID()
  const user = { accessKeyId: 'ATRIUMTEST', secretAccessKey: 'a-secret-of-the-tests' }
  const started: ChildProcess[] = []
  const stop = async () => {
    await Promise.all(started.map(end))
    await rm(folder, { recursive: true, force: true })
  }
  const ceph = (program: string, ...args: string[]) => run(program, ['-c', conf, ...args], { timeout: stepTimeoutMs })
  const startDaemon = (program: string, ...args: string[]) =>
    started.push(spawnDaemon(folder, program, ['-c', conf, '-f', ...args]))
  try {
    await writeFile(conf, cephConf({ folder, monPort, gatewayPort }))
    await Promise.all(['mon', 'osd'].map((name) => mkdir(join(folder, name))))
    const monAddress = ['-i', 'a', '--public-addr', `v2:127.0.0.1:${monPort}`]
    await ceph('ceph-mon', '--mkfs', ...monAddress)
    startDaemon('ceph-mon', ...monAddress)
    await ceph('ceph', '--connect-timeout', '20', 'osd', 'new', osdId)
    await ceph('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osdId)
    startDaemon('ceph-osd', '-i', '0')
    const { accessKeyId, secretAccessKey } = user
    const named = ['--uid=atrium', '--display-name=Atrium', `--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`]
    await ceph('radosgw-admin', 'user', 'create', ...named)
    startDaemon('radosgw', '-n', 'client.rgw')
    const endpoint = `http://127.0.0.1:${gatewayPort}`
    await untilAnswers(endpoint)
    const store = { endpoint, region: 'us-east-1', bucket: 'atrium-test', ...user }
    await createBucket(store)
    return { ...store, stop }
  } catch (error) {
    const logs = await Promise.all(['ceph-mon', 'ceph-osd', 'radosgw'].map((name) => printed(folder, name)))
    await stop()
    throw new Error(`Ceph did not start: ${(error as Error).message}\n${logs.join('\n')}`, { cause: error })
  }
}

/** setpriv ends them with the test run if that is killed. */
function spawnDaemon(folder: string, program: string, args: string[]): ChildProcess {
  const output = openSync(join(folder, `${program}.out`), 'w')
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { stdio: ['ignore', output, output] })
  closeSync(output)
  return child
}

/** Sends SIGKILL, because after SIGTERM the OSD would first write its memory into the folder. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function untilAnswers(endpoint: string): Promise<void> {
  const deadline = Date.now() + stepTimeoutMs
  while (Date.now() < deadline) {
    const answered = await fetch(endpoint).then(
      (res) => res.ok,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`the gateway did not answer in ${stepTimeoutMs} ms`)
}

async function createBucket({ endpoint, region, bucket, ...credentials }: Omit<Radosgw, 'stop'>): Promise<void> {
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: bucket }), { abortSignal: AbortSignal.timeout(stepTimeoutMs) })
  client.destroy()
}

async function printed(folder: string, program: string): Promise<string> {
  const text = await readFile(join(folder, `${program}.out`), 'utf8').catch(() => '')
  return text && `${program}: ${text.trim().split('\n').slice(-5).join('\n')}`
}
