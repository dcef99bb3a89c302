import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TurnRecord } from '@atrium/sealing/records'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { digestInputs } from '../../../../space/build/input-digest.ts'
import type { StubApi } from './stub-api.ts'
import { startStubSpace } from './stub-space-server.ts'
import { writingsOf } from './writings.ts'

const root = fileURLToPath(new URL('../../../../..', import.meta.url))

/**
 * The interface of a Space service for the browser tests. They run against the stub, or against the real service
 * behind the same interface.
 */
export interface TestSpace {
  readonly origin: string
  /** Fills an existing room with `count` messages of several guests and an agent. */
  fill(secret: { room: string; mk: string }, count: number): Promise<void>
  /** Adds messages to an existing room, bypassing the endpoint. */
  add(secret: { room: string; mk: string }, records: readonly TurnRecord[]): Promise<void>
  /** Fills a client-sealed room that has only line 0. Absent if the service has no such rooms. */
  readonly fillSealed?: (secret: { room: string; mk: string }, count: number) => Promise<void>
  /** Stores lines that clients have sealed, bypassing the endpoint. Absent as `fillSealed`. */
  readonly addLines?: (room: string, lines: readonly string[]) => Promise<void>
  /** Signs in on the identity provider's page, or declines if it is undefined. */
  signIn(page: Page, email: string | undefined): Promise<void>
  /**
   * The service answers every request with this until it is called with undefined. Absent if the service cannot do
   * that.
   */
  readonly breakWith?: (answer: { status: number; error: string; reason: string } | undefined) => void
  /** Alters one stored line, as an operator could. */
  readonly tamper?: (room: string) => void | Promise<void>
  /** As if someone else now ran the service. */
  readonly changeKey?: () => void
  /** A guest who creates an open room owns it with the device key. */
  readonly guestsOwnRooms?: boolean
  /** Sets the claims of the next tokens and clears earlier settings. */
  readonly claim?: (claims: Record<string, unknown>) => void
  /** The API for inviting agents. Without it the app shows nothing about agents. */
  readonly api?: StubApi
  stop(): Promise<void>
}

export type StartSpace = () => Promise<TestSpace>

/** Starts the stub or, with SPACE_TESTS_REAL=on, the real service. */
export const startSpace: StartSpace = async () => {
  if (process.env['SPACE_TESTS_REAL'] === 'on') return (await import('./start-real-space.ts')).startRealSpace()
  return startStub()
}

const startStub: StartSpace = async () => {
  const appFolder = await buildApp()
  const stub = await startStubSpace(appFolder)
  const add: TestSpace['add'] = async (secret, records) => {
    for (const record of records) stub.rooms.add(secret, record)
  }
  return {
    origin: stub.origin,
    fill: (secret, count) => add(secret, writingsOf(count)),
    add,
    guestsOwnRooms: true,
    signIn: signInAtStub,
    breakWith: stub.breakWith,
    tamper(room) {
      const { lines } = stub.rooms.rooms.get(room)!
      lines[1] = lines[1]!.replace(/"ciphertext":"(.)/, (_, first: string) => `"ciphertext":"${first === 'A' ? 'B' : 'A'}`)
    },
    changeKey: stub.certificate.changeKey,
    claim: (claims) => stub.provider.claim(claims),
    api: stub.api,
    async stop() {
      stub.stop()
    },
  }
}

/** The folder of the published app. Built once for all test files, because a build takes about 2 s of the processor. */
export async function buildApp(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/space-app', await digestInputs(root))
  if (existsSync(folder)) return folder
  await mkdir(dirname(folder), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  await build({ configFile: join(root, 'packages/web/vite.space.config.ts'), logLevel: 'warn', build: { outDir: draft } })
  // Another test file may have built the same app meanwhile.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }))
  return folder
}

export async function signInAtStub(page: Page, email: string | undefined): Promise<void> {
  await page.waitForURL(/\/authorize/)
  await page.locator('input[name=email]').fill(email ?? '')
  await page.locator('button').click()
  await page.waitForURL(/\/space(#|$)/)
}
