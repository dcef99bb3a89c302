import { urlOfDatabase } from '../../packages/server/testing/test-database.ts'

/** Test files that run through a PgBouncer with ATRIUM_TEST_POOLER=1 (scripts/test.ts); undefined: without one. */
const poolerUrl = process.env['ATRIUM_TEST_POOLER_URL']

/** The direct addresses of proxies, by the address that leads through the pooler. */
const directUrls = new Map<string, string>()

/** The address of the database through the pooler of this test run; undefined: there is none. */
export function pooledUrlOf(databaseUrl: string): URL | undefined {
  return poolerUrl === undefined ? undefined : new URL(urlOfDatabase(poolerUrl, new URL(databaseUrl).pathname.slice(1)))
}

/** A proxy at `url` leads through the pooler, and its other address leads past it. */
export function addDirectUrl(url: string, directUrl: string): void {
  directUrls.set(url, directUrl)
}

/** The variables of the database, with the pooler in between if this test run has one. */
export function databaseEnvironment(databaseUrl: string): Record<string, string> {
  const directUrl = directUrls.get(databaseUrl)
  if (directUrl !== undefined) return { DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: directUrl }
  const pooled = pooledUrlOf(databaseUrl)
  return pooled ? { DATABASE_URL: pooled.href, DATABASE_DIRECT_URL: databaseUrl } : { DATABASE_URL: databaseUrl }
}
