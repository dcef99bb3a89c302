import type { Db, Query } from '../../packages/space/src/rooms/store.ts'

/** The statements that `work` would run. */
export async function recordQueries(work: (db: Db) => Promise<unknown>): Promise<Query<never>[]> {
  const statements: Query<never>[] = []
  await work({
    query: (query) => {
      statements.push(query as Query<never>)
      return Promise.resolve({ rows: [] })
    },
  })
  return statements
}
