import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// `npm run test:faults` and `test:long` run the others, which take many minutes.
const everything = ['packages/**/*.test.ts', 'tests/*.test.ts', 'tests/inside/*.test.ts']

/** Files that take more than 12 seconds, the longest first. Most wait more than they compute. */
const longFiles = [
  'tests/access-matrix.test.ts',
  'tests/guides.test.ts',
  'tests/fuzz.test.ts',
  'tests/remote-agent.test.ts',
  'tests/inside/master-key.test.ts',
  'tests/client-sealed-reader.test.ts',
  'tests/inside/idempotency.test.ts',
  'packages/server/src/features/artifacts/generation/artifact-generator.test.ts',
  'tests/space-app-key.test.ts',
  'packages/server/src/features/artifacts/stored-in-s3.test.ts',
  'tests/backup.test.ts',
  'packages/server/src/db/embedded-postgres.test.ts',
  'tests/inside/start.test.ts',
  'tests/bad-input.test.ts',
  'tests/limits.test.ts',
  'packages/server/src/features/webhooks/delivering/outcomes.test.ts',
  'tests/inside/queries-at-rest.test.ts',
  'tests/sealed-agent.test.ts',
  'packages/space/build/ensure-built.test.ts',
  'packages/server/src/features/streams/stream-ends.test.ts',
  'packages/client/src/agent-session.test.ts',
  'tests/metrics.test.ts',
  'tests/operating-pages.test.ts',
  'tests/generated-clients.test.ts',
  'packages/server/src/features/backup/hostile-archives.test.ts',
  'tests/acceptance.test.ts',
  'tests/contention.test.ts',
  'tests/alert-rules.test.ts',
  'tests/command-line.test.ts',
  'packages/painter/src/paint-picture.test.ts',
  'tests/readme.test.ts',
  'packages/server/src/features/credits/ledger/ledger-model.test.ts',
  'packages/server/src/features/tenant-data/erase-tenants.test.ts',
  'packages/space/build/reproducible.test.ts',
  'packages/server/src/gateway/blob-routes.test.ts',
  'tests/event-streams.test.ts',
  'tests/limits-of-workers.test.ts',
  'tests/space-address.test.ts',
  'tests/inside/settings-of-children.test.ts',
  'tests/master-key-kms.test.ts',
  'tests/verification-log.test.ts',
  'tests/bearer-codes.test.ts',
  'packages/server/src/processes/sweeping/failing-sessions.test.ts',
  'tests/mcp-stdio.test.ts',
  'tests/python-client.test.ts',
]

/** Tests of pages in a browser that take long, the longest first. */
const longBrowserFiles = [
  'tests/console-pages.browser.test.ts',
  'packages/server/src/gateway/docs/docs.browser.test.ts',
  'tests/invite-sealed-agent.browser.test.ts',
  'tests/console-hostile.browser.test.ts',
  'packages/web/src/space/sealed-languages.browser.test.ts',
  'tests/invite-hosted-agent.browser.test.ts',
  'packages/web/src/share/share-page.browser.test.ts',
  'packages/web/src/space/languages.browser.test.ts',
  'packages/web/src/space/quality.browser.test.ts',
]

/** Tests of Citus that take long, the longest first. Each starts three servers. */
const citusFiles = [
  'tests/inside/citus-delivery-faults.test.ts',
  'tests/inside/citus.test.ts',
  'tests/inside/citus-webhooks.test.ts',
  'tests/inside/citus-events.test.ts',
  'tests/inside/citus-request-log.test.ts',
]

export interface Suite {
  files: string[]
  /** How many files run at once. It is chosen for two cores. */
  concurrency: number
}

/** The suites whose order scripts/test.ts does not leave to the test runner. */
export const suites = {
  // The longest files wait for half of their time: for leases, timeouts and the starts of servers. Four at once were not
  // faster, and the database of a busy machine did not accept a connection in time.
  '--everything': (): Suite => ({ files: orderedTests(), concurrency: 3 }),
  '--browser': (): Suite => ({ files: orderedBrowserTests(), concurrency: 3 }),
  '--citus': (): Suite => ({ files: orderedCitusTests(), concurrency: 3 }),
}

/**
 * All test files but those of pages in a browser and those of Citus, in the order in which they start. Long files are
 * spread over the first two thirds: what they leave of the processor goes to the files between them, and none of them
 * is still running alone at the end.
 */
function orderedTests(): string[] {
  const { long, others } = divide(
    findTests().filter((name) => !isBrowserTest(name) && !isCitusTest(name)),
    longFiles,
  )
  const between = Math.floor((others.length * 2) / 3 / long.length)
  return long
    .flatMap((file, i) => [file, ...others.slice(i * between, (i + 1) * between)])
    .concat(others.slice(long.length * between))
}

/** The longest first, so that none of them is still running alone at the end. */
function orderedBrowserTests(): string[] {
  const { long, others } = divide(findTests().filter(isBrowserTest), longBrowserFiles)
  return [...long, ...others]
}

function orderedCitusTests(): string[] {
  const { long, others } = divide(findTests().filter(isCitusTest), citusFiles)
  return [...long, ...others]
}

function findTests(): string[] {
  const root = fileURLToPath(new URL('..', import.meta.url))
  // `exclude` does not see the files of a pattern without **.
  return globSync(everything, { cwd: root, exclude: (name) => name === 'node_modules' }).toSorted()
}

function isBrowserTest(name: string): boolean {
  return name.endsWith('.browser.test.ts')
}

function isCitusTest(name: string): boolean {
  return name.startsWith('tests/inside/citus')
}

function divide(all: string[], long: string[]): { long: string[]; others: string[] } {
  for (const file of long) assert.ok(all.includes(file), `scripts/ordered-tests.ts names ${file}, which does not exist`)
  return { long, others: all.filter((file) => !long.includes(file)) }
}
