import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArchive } from './archive.ts'
import { checkManifests } from './source-manifests.ts'
import { CheckFailed } from './report.ts'
import { goodArchive, hostileArchives } from './testing/hostile-archives.ts'

function readSource(archive: Buffer): void {
  checkManifests(readArchive(archive))
}

test('the archive that the hostile ones are made of passes', () => readSource(goodArchive))

for (const { name, archive, reason } of hostileArchives) {
  test(`a source archive is refused, with the reason: ${name}`, () => {
    assert.throws(
      () => readSource(archive),
      (error) => error instanceof CheckFailed && reason.test(error.message),
      String(reason),
    )
  })
}
