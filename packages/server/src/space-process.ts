import { fork, type ChildProcess } from 'node:child_process'
import { ensureBuilt } from '../../space/build/ensure-built.ts'
import type { Config } from './config/config.ts'
import { usesDevelopmentIdentity } from './development-identity/development-issuer.ts'
import { StartError } from './start-error.ts'

const restartDelayMs = 500
const stopTimeoutMs = 9_000

/** Variables that the Space service reads for itself; it is given no other, so none of the platform's secrets reach it. */
const passedOn = [
  'PATH',
  'HOST',
  'ATRIUM_RATE_LIMIT',
  'ATRIUM_TRUST_PROXY',
  'ATRIUM_SPACE_SIGNING_KEY',
  'OIDC_JWKS_ORIGIN',
  'NODE_ENV',
]

type Message = { listening: number } | { failed: string }

export interface SpaceProcess {
  stop(): Promise<void>
}

/** Runs the certified bundle as a process of its own, and replaces it when it dies. */
export async function startSpaceProcess(config: Config, databaseUrl: string): Promise<SpaceProcess> {
  const { bundlePath } = await ensureBuilt()
  const env = spaceEnvironment(config, databaseUrl)
  let child: ChildProcess
  let stopping = false

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      child = fork(bundlePath, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      child.once('message', (message: Message) => {
        if ('listening' in message) resolve()
        else reject(new StartError(message.failed))
      })
      child.once('exit', (code) => {
        reject(new StartError(`the Space service ended while it started (exit code ${code})`))
        if (!stopping) setTimeout(() => void (stopping || launch().catch(() => undefined)), restartDelayMs).unref()
      })
    })

  try {
    await launch()
  } catch (error) {
    stopping = true
    throw error
  }
  return {
    stop: async () => {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const patience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      child.kill('SIGTERM')
      await ended
      clearTimeout(patience)
    },
  }
}

function spaceEnvironment(config: Config, databaseUrl: string): NodeJS.ProcessEnv {
  const passed = Object.fromEntries(
    passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const { oidc } = config
  return {
    ...passed,
    DATABASE_URL: databaseUrl,
    // The API forwards to it from this machine and names the caller: without loopback all of them would share one limit.
    ATRIUM_TRUST_PROXY: ['loopback', ...config.trustProxy].join(','),
    SPACE_PORT: String(config.spacePort),
    ATRIUM_SPACES_URL: config.spacesUrl,
    ATRIUM_PUBLIC_URL: config.publicUrl,
    ATRIUM_DATA_DIR: config.dataDir,
    ...(oidc ? { OIDC_ISSUER: oidc.issuer, OIDC_CLIENT_ID: oidc.clientId } : {}),
    ...(usesDevelopmentIdentity(config) ? { ATRIUM_DEV_IDENTITY: 'on' } : {}),
  }
}
