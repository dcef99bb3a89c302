import assert from 'node:assert/strict'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import type { AtriumProcess } from './atrium-process.ts'
import { makeTenant, type TestTenant } from './call-api.ts'
import { makeShelf, startForShelves, type Shelf } from './matrix-world.ts'

export interface ShelfWorld {
  atrium: AtriumProcess
  origin: string
  tenant: TestTenant
  shelf: Shelf
  /** Stops it, and asserts that the server logged no fault. */
  close(): Promise<void>
}

/** A server with a tenant that has one thing of each kind. */
export async function openShelfWorld(): Promise<ShelfWorld> {
  const database = await createTestDatabase()
  const atrium = await startForShelves(database.url)
  const { origin } = atrium
  const tenant = await makeTenant(origin)
  const shelf = await makeShelf(origin, tenant)
  const close = async () => {
    await atrium.end('SIGKILL')
    await database.drop()
    const lines = atrium.output().split('\n')
    const broken = lines.filter((line) => line.includes('request failed') && !line.includes('"unavailable"'))
    assert.deepEqual(broken.slice(0, 3), [], 'nothing broke on our side')
  }
  return { atrium, origin, tenant, shelf, close }
}
