import { Connections } from '@atrium/traffic/connections'
import { isAnswerLost } from '@atrium/traffic/database-errors'
import { retryLocked } from '@atrium/traffic/locked-retry'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'
import { readColumn } from './column-types.ts'
import type { Db, Query } from './rooms/store.ts'

interface SpaceDatabase extends Db {
  end(): Promise<void>
}

const maxConnections = 20

/** Each statement is committed by itself. What is locked is tried again after a pause, for which no connection is held. */
export function openDatabase(url: string, onError: (error: Error) => void): SpaceDatabase {
  const connections = new Connections({ url, max: maxConnections, readColumn, onError })
  const once = async <Row extends object>(query: Query<Row>) => {
    const connection = await connections.acquire('statement')
    try {
      return await connection.query<Row>(query)
    } catch (error) {
      throw (query.writes ?? !query.text.startsWith('select')) && isAnswerLost(error) ? new OutcomeUnknown(error) : error
    } finally {
      connections.release(connection)
    }
  }
  return {
    query: (query) => (query.tries === 'one' ? once(query) : retryLocked(() => once(query))),
    end: () => connections.end(),
  }
}
