import { Connections, type ConnectionsOptions } from '@atrium/traffic/connections'
import { isAnswerLost } from '@atrium/traffic/database-errors'
import { retryLocked } from '@atrium/traffic/locked-retry'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'
import { WakeUps } from '@atrium/traffic/wake-ups'
import { readColumn } from './column-types.ts'
import type { Query, WakingDb } from './rooms/store.ts'

interface SpaceDatabase extends WakingDb {
  readonly pool: Connections
  end(): Promise<void>
}

interface SpaceDatabaseOptions extends Omit<ConnectionsOptions, 'readColumn'> {
  /** Called when wake-ups were not sent. */
  onWakeUpError: (error: Error) => void
}

/**
 * Each statement commits by itself. A statement that finds a lock is retried after a pause, during which it holds no
 * connection.
 */
export function openDatabase({ onWakeUpError, ...options }: SpaceDatabaseOptions): SpaceDatabase {
  const connections = new Connections({ ...options, readColumn })
  const wakeUps = new WakeUps(connections, onWakeUpError)
  const once = async <Row extends object>(query: Query<Row>) => {
    const connection = await connections.acquire('statement')
    try {
      return await connection.query<Row>(query)
    } catch (error) {
      throw (query.writes ?? !query.text.startsWith('select')) && isAnswerLost(error, { onWorker: query.writes === 'on worker' })
        ? new OutcomeUnknown(error)
        : error
    } finally {
      connections.release(connection)
    }
  }
  return {
    pool: connections,
    query: (query) => (query.tries === 'one' ? once(query) : retryLocked(() => once(query))),
    wake: (channel, payload) => wakeUps.add(channel, payload),
    end: async () => {
      await wakeUps.close()
      await connections.end()
    },
  }
}
