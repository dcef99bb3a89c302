import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { openEgress, type Egress, type EgressOptions } from '#ports/egress/egress.ts'
import { startRawServer } from './raw-server.ts'

/** Closed with the test, even if it fails, because an open connection would keep the process alive. */
export function openTestEgress(t: TestContext, options: EgressOptions): Egress {
  const egress = openEgress(options)
  t.after(() => egress.close())
  return egress
}

/** Opens an egress that may reach loopback, and a server there. */
export async function openEgressTo(t: TestContext, onConnection?: (socket: Socket) => void) {
  const server = await startRawServer(onConnection, { host: '127.0.0.1' })
  t.after(() => server.close())
  return { egress: openTestEgress(t, { mode: 'loopback' }), server, url: `http://127.0.0.1:${server.port}/` }
}
