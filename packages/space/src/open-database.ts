import { Connections } from '@atrium/traffic/connections'
import { isAnswerLost, isConnectionLost } from '@atrium/traffic/database-errors'
import { retryLocked } from '@atrium/traffic/locked-retry'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'
import { columnTypes } from './column-types.ts'
import type { Db, Query } from './rooms/store.ts'

interface SpaceDatabase extends Db {
  end(): Promise<void>
}

const maxConnections = 20

/** Each statement is committed by itself. What is locked is tried again after a pause, for which no connection is held. */
export function openDatabase(url: string, onError: (error: Error) => void): SpaceDatabase {
  const connections = new Connections({ url, max: maxConnections, types: columnTypes, onError })
  const once = async <Row extends object>(query: Query<Row>) => {
    const client = await connections.acquire('statement')
    let broken: Error | undefined
    try {
      return await client.query<Row>(query)
    } catch (error) {
      if (isConnectionLost(error)) broken = error as Error
      throw (query.writes ?? !query.text.startsWith('select')) && isAnswerLost(error) ? new OutcomeUnknown(error) : error
    } finally {
      connections.release(client, broken)
    }
  }
  return {
    query: (query) => (query.tries === 'one' ? once(query) : retryLocked(() => once(query))),
    end: () => connections.pool.end(),
  }
}
