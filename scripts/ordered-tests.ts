import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// `npm run test:browser`, `test:faults` and `test:long` run the others, which take many minutes.
const everything = ['packages/**/*.test.ts', 'tests/*.test.ts', 'tests/inside/*.test.ts']

/** Files that take more than 15 seconds, the longest first. Most wait more than they compute. */
const longFiles = [
  'tests/access-matrix.test.ts',
  'tests/inside/idempotency.test.ts',
  'packages/server/src/features/webhooks/delivering/delivery.test.ts',
  'tests/inside/start.test.ts',
  'tests/inside/citus.test.ts',
  'tests/inside/citus-events.test.ts',
  'tests/inside/citus-request-log.test.ts',
  'tests/limits.test.ts',
  'packages/server/src/features/streams/stream-ends.test.ts',
  'tests/telemetry.test.ts',
  'tests/inside/sessions-canary.test.ts',
  'tests/space-app-key.test.ts',
  'tests/inside/master-key.test.ts',
  'tests/fuzz.test.ts',
  'tests/guides.test.ts',
  'tests/bad-input.test.ts',
  'packages/space/build/ensure-built.test.ts',
  'tests/acceptance.test.ts',
  'packages/server/src/db/embedded-postgres.test.ts',
  'tests/backup.test.ts',
  'packages/server/src/processes/sweeper.test.ts',
]

/**
 * All test files, in the order in which they start. Long files are spread over the first two thirds: what they leave
 * of the processor goes to the files between them, and none of them is still running alone at the end.
 */
export function orderedTests(): string[] {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const exclude = (name: string) => name === 'node_modules' || name.endsWith('.browser.test.ts')
  const all = globSync(everything, { cwd: root, exclude }).toSorted()
  for (const file of longFiles) assert.ok(all.includes(file), `scripts/ordered-tests.ts names ${file}, which does not exist`)
  const others = all.filter((file) => !longFiles.includes(file))
  const between = Math.floor((others.length * 2) / 3 / longFiles.length)
  return longFiles
    .flatMap((file, i) => [file, ...others.slice(i * between, (i + 1) * between)])
    .concat(others.slice(longFiles.length * between))
}
