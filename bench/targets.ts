import type { Data } from './data.ts'
import type { Plan } from './plan.ts'
import type { ServerName } from './servers.ts'

/** One benchmark: requests of one kind to one server. */
export interface Target {
  name: string
  what: string
  server: ServerName
  /** Creates the rows that the requests need, and returns the requests. */
  plan: (data: Data, origin: string) => Promise<Plan>
}

/** About 150 bytes of content, as a greeting card's message has. */
const item = JSON.stringify({
  type: 'message',
  content: {
    text: 'Happy birthday, old lighthouse! May your lamp be bright, your stairs be short and the sea be kind to you this year.',
    colour: 'teal',
  },
  author: 'Ada',
})

/**
 * The benchmarks in the order of a round, with compared ones next to each other. Reads are spread over a thousand
 * collections, so that no batch can answer many requests with one row.
 */
export const targets: Target[] = [
  {
    name: 'empty',
    what: 'F0 node:http, fixed JSON',
    server: 'empty',
    plan: async () => ({ method: 'GET', paths: ['/'], status: 200 }),
  },
  {
    name: 'get-collection',
    what: 'GET collection',
    server: 'atrium',
    plan: async (data) => ({ ...(await data.readable()), method: 'GET', status: 200 }),
  },
  {
    name: 'read',
    what: 'F1 node:http + pg, by id',
    server: 'read',
    plan: async (data) => ({ method: 'GET', paths: await data.floorPaths(), status: 200 }),
  },
  {
    name: 'render',
    what: 'GET share page',
    server: 'atrium',
    plan: async (data) => {
      const { paths } = await data.readable()
      return { method: 'GET', paths: paths.map((path) => `${path}/render`), status: 200 }
    },
  },
  {
    name: 'add-item',
    what: 'POST item, 16 collections',
    server: 'atrium',
    plan: async (data) => ({ ...(await data.writable(16)), method: 'POST', body: item, status: 201 }),
  },
  {
    name: 'insert',
    what: 'F2 node:http + pg, insert',
    server: 'insert',
    plan: async (data) => ({ method: 'POST', paths: await data.insertPaths(16), body: item, status: 201 }),
  },
  {
    name: 'add-item-key',
    what: 'POST item, Idempotency-Key',
    server: 'atrium',
    plan: async (data) => ({ ...(await data.writable(16)), method: 'POST', body: item, uniqueKeys: true, status: 201 }),
  },
  {
    name: 'media',
    what: 'GET media, 1 MiB',
    server: 'atrium',
    plan: async (data) => ({ method: 'GET', paths: await data.media(16), status: 200 }),
  },
  {
    name: 'file',
    what: 'F3 node:http, file stream, 1 MiB',
    server: 'file',
    plan: async () => ({ method: 'GET', paths: Array.from({ length: 16 }, (_, i) => `/${i}`), status: 200 }),
  },
  {
    name: 'turn',
    what: 'Space turn, 64 rooms',
    server: 'space',
    plan: async (data, origin) => {
      const message = { text: 'Happy birthday, old lighthouse! May your lamp be bright and the sea be kind to you.' }
      const bodies = await data.rooms(origin, 64, ({ room, mk }) => ({ op: 'turn', room, mk, message }))
      return { method: 'POST', paths: ['/space'], bodies, status: 200 }
    },
  },
  {
    // A room can have 100,000 lines, which a single room would reach in ten seconds.
    name: 'turn-few',
    what: 'Space turn, 8 rooms',
    server: 'space',
    plan: async (data, origin) => {
      const bodies = await data.rooms(origin, 8, ({ room, mk }) => ({ op: 'turn', room, mk, message: { text: 'Hello' } }))
      return { method: 'POST', paths: ['/space'], bodies, status: 200 }
    },
  },
  {
    name: 'poll',
    what: 'Space poll, nothing new',
    server: 'space',
    plan: async (data, origin) => {
      const bodies = await data.rooms(origin, 256, ({ room, mk, etag, count }) => ({
        op: 'poll',
        room,
        mk,
        sinceEtag: etag,
        sinceCount: count,
      }))
      return { method: 'POST', paths: ['/space'], bodies, status: 200 }
    },
  },
  {
    name: 'add-item-one',
    what: 'POST item, 1 collection',
    server: 'atrium',
    plan: async (data) => ({ ...(await data.writable(1)), method: 'POST', body: item, status: 201 }),
  },
  {
    name: 'list-1k',
    what: 'owner page of 50 in 1,000',
    server: 'atrium',
    plan: async (data) => ({ ...(await data.filled(1_000)), method: 'GET', status: 200 }),
  },
  {
    name: 'list-1m',
    what: 'owner page of 50 in 1,000,000',
    server: 'atrium',
    plan: async (data) => ({ ...(await data.filled(1_000_000)), method: 'GET', status: 200 }),
  },
]
