// Stores the received events in a database, so that a repeated event is recognised, even after a restart.
import { DatabaseSync } from 'node:sqlite'
import type { AtriumEvent } from '@atrium/client'

export interface Entry {
  id: string
  type: string
  /** When it happened. */
  created_at: string
  data: unknown
  /** How often it was delivered. */
  deliveries: number
}

interface Row {
  body: string
  deliveries: number
}

export function openInbox(path: string) {
  const db = new DatabaseSync(path)
  db.exec('create table if not exists events (id text primary key, body text not null, deliveries integer not null)')
  // The id decides whether it is new: in one statement, so that two deliveries at once cannot both be the first.
  const add = db.prepare(
    'insert into events values (?, ?, 1) on conflict (id) do update set deliveries = deliveries + 1 returning body, deliveries',
  )
  const latest = db.prepare(
    'select body, deliveries from (select rowid, * from events order by rowid desc limit 100) order by rowid',
  )
  const read = ({ body, deliveries }: Row): Entry => ({ ...(JSON.parse(body) as AtriumEvent), deliveries })

  return {
    /** Keeps the event. What your app does for it belongs here, in one transaction, where `deliveries` is 1. */
    receive: (event: AtriumEvent): Entry => read(add.get(event.id, JSON.stringify(event)) as unknown as Row),
    /** The latest hundred, oldest first. */
    list: (): Entry[] => (latest.all() as unknown as Row[]).map(read),
  }
}
