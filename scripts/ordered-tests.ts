import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// tests/faults and tests/long take many minutes; `npm run test:faults` and `npm run test:long` run them.
const everything = ['packages/**/*.test.ts', 'tests/*.test.ts', 'tests/inside/*.test.ts']

/** Files that take more than 15 seconds, the longest first. Most wait more than they compute. */
const longFiles = [
  'tests/access-matrix.test.ts',
  'tests/inside/idempotency.test.ts',
  'packages/server/src/features/webhooks/delivering/delivery.test.ts',
  'tests/inside/start.test.ts',
  'tests/inside/citus.test.ts',
  'packages/web/src/share/share-page.browser.test.ts',
  'packages/web/src/space/quality.browser.test.ts',
  'tests/limits.test.ts',
  'packages/server/src/features/streams/stream-ends.test.ts',
  'tests/telemetry.test.ts',
  'packages/web/src/space/languages.browser.test.ts',
  'tests/inside/sessions-canary.test.ts',
  'tests/space-app-key.test.ts',
  'packages/server/src/gateway/docs/docs.browser.test.ts',
  'packages/server/src/gateway/console.browser.test.ts',
  'tests/inside/master-key.test.ts',
  'tests/fuzz.test.ts',
  'packages/web/src/space/agents-quality.browser.test.ts',
  'tests/guides.test.ts',
  'packages/web/src/space/lists.browser.test.ts',
  'tests/bad-input.test.ts',
  'packages/space/build/ensure-built.test.ts',
  'tests/acceptance.test.ts',
  'packages/server/src/db/embedded-postgres.test.ts',
  'tests/backup.test.ts',
  'tests/invite-agent.test.ts',
  'packages/server/src/processes/sweeper.test.ts',
]

/**
 * All test files, in the order in which they start. Long files are spread over the first two thirds: what they leave
 * of the processor goes to the files between them, and none of them is still running alone at the end.
 */
export function orderedTests(): string[] {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const all = globSync(everything, { cwd: root, exclude: (name) => name === 'node_modules' }).toSorted()
  for (const file of longFiles) assert.ok(all.includes(file), `scripts/ordered-tests.ts names ${file}, which does not exist`)
  const others = all.filter((file) => !longFiles.includes(file))
  const between = Math.floor((others.length * 2) / 3 / longFiles.length)
  return longFiles
    .flatMap((file, i) => [file, ...others.slice(i * between, (i + 1) * between)])
    .concat(others.slice(longFiles.length * between))
}
