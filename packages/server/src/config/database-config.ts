import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'
import { integer } from './integer.ts'

export interface DatabaseConfig {
  /** The most connections of one process for statements and transactions. */
  poolSize: number
  /**
   * Leads to sessions of PostgreSQL itself, where DATABASE_URL leads through a pooler in transaction mode. undefined:
   * there is no such pooler.
   */
  directUrl: string | undefined
  /** The Space service's own addresses, which may be those of another role. `url` undefined: those of the platform. */
  space: { url: string | undefined; directUrl: string | undefined; poolSize: number }
}

/** @throws {StartError} if a value is wrong. The message never quotes it, because it may contain a password. */
export function readDatabaseConfig(env: Env): DatabaseConfig {
  if (env.databaseDirectUrl && !env.databaseUrl) throw new StartError('DATABASE_URL must be set when DATABASE_DIRECT_URL is')
  if (env.spaceDatabaseDirectUrl && !env.spaceDatabaseUrl)
    throw new StartError('SPACE_DATABASE_URL must be set when SPACE_DATABASE_DIRECT_URL is')
  return {
    poolSize: poolSize('DATABASE_POOL_SIZE', env.databasePoolSize),
    directUrl: readDatabaseUrl('DATABASE_DIRECT_URL', env.databaseDirectUrl),
    space: {
      url: readDatabaseUrl('SPACE_DATABASE_URL', env.spaceDatabaseUrl),
      directUrl: readDatabaseUrl('SPACE_DATABASE_DIRECT_URL', env.spaceDatabaseDirectUrl),
      poolSize: poolSize('SPACE_DATABASE_POOL_SIZE', env.spaceDatabasePoolSize),
    },
  }
}

/** @throws {StartError} as `readDatabaseConfig`. */
export function readDatabaseUrl(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && (!/^postgres(ql)?:\/\//.test(text) || !canParse(text)))
    throw new StartError(
      `${name} must be an address that starts with postgres:// or postgresql://, and in which a special character of the password is encoded, such as %2F for /`,
    )
  return text
}

/**
 * Accepts a URL, and the forms that the driver also accepts: without a host, or with the folder of a socket instead.
 */
function canParse(text: string): boolean {
  return URL.canParse(text) || URL.canParse(text.replace('@/', '@localhost/'))
}

/** Two at least: transactions never take all connections, so that a statement need not wait for them. */
function poolSize(name: string, text = '20'): number {
  return integer(name, text, 2, 1_000)
}
