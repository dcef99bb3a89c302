import { Type } from './type.ts'
import { operation } from './operation.ts'
import { nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Process = Type.Object({
  id: Type.String({ format: 'uuid' }),
  role: oneOf(['api', 'worker']),
  state: oneOf(['running', 'silent'], { description: 'silent: it has not written its row for 30 seconds.' }),
  host: Type.String({ description: 'The name of the machine or container.' }),
  pid: Type.Integer(),
  version: Type.String({ description: 'The release, and the start of its commit if that is known.' }),
  node: Type.String(),
  memory_bytes: count('Resident memory.'),
  started_at: Timestamp,
  beat_at: Timestamp,
})

const Queue = Type.Object({
  name: oneOf(['artifact_jobs', 'blob_deletions', 'event_outbox', 'sessions', 'webhook_deliveries']),
  depth: count('Entries that are due and that no worker has taken. Counted up to 10,000.'),
  oldest_seconds: Type.Number({ minimum: 0, description: 'How long the oldest of these has waited. 0: there is none.' }),
})

const Sweep = Type.Object({
  name: Type.String(),
  interval_seconds: Type.Number({ minimum: 0 }),
  running: Type.Boolean({ description: 'Whether a process runs it now.' }),
  ran_at: nullable(Type.String({ format: 'date-time', description: 'When it last ran to its end.' })),
  failed_at: nullable(
    Type.String({ format: 'date-time', description: 'When it last failed. The log of that process has the reason.' }),
  ),
  late: Type.Boolean({ description: 'Whether it last ran to its end more than three intervals and a minute ago.' }),
})

export const operatorInstallationOperations = {
  listProcesses: operation({
    id: 'listProcesses',
    kind: 'read',
    method: 'GET',
    path: '/operator/processes',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the running processes',
    description:
      'Operator only. The processes of the API and the job workers on all machines, newest first. Each writes its row every ' +
      '10 seconds and removes it when it stops. A row that was not written for a day is removed. The Space service is not ' +
      'among them: it has no access to these tables.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of processes.', data: Type.Array(Process), paged: true } },
    errors: ['invalid_cursor'],
    example: {
      data: [
        {
          id: '0f9d3c1e-6a52-4f0c-9d0e-2f4b7c1a8e55',
          role: 'api',
          state: 'running',
          host: 'atrium-1',
          pid: 4_711,
          version: '0.1.0',
          node: '24.21.0',
          memory_bytes: 94_371_840,
          started_at: '2026-11-20T09:30:00.000Z',
          beat_at: '2026-11-20T11:02:10.000Z',
        },
      ],
    },
  }),
  readQueues: operation({
    id: 'readQueues',
    kind: 'read',
    method: 'GET',
    path: '/operator/queues',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read the queues and the periodic tasks',
    description:
      'Operator only. The depth of each queue at this moment, and when each periodic task (sweep) last ran. One process at a ' +
      'time runs a sweep.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The queues and sweeps.',
        data: Type.Object({
          queues: Type.Array(Queue),
          sweeps: Type.Array(Sweep),
          log_stopped: nullable(
            Type.String({
              description:
                'Why the transparency log signs nothing, such as the witness that it waits for after a restore. null: it signs.',
              'x-status': 'live',
            }),
          ),
        }),
      },
    },
    example: {
      data: {
        queues: [{ name: 'webhook_deliveries', depth: 3, oldest_seconds: 4.2 }],
        sweeps: [
          {
            name: 'old events',
            interval_seconds: 60,
            running: false,
            ran_at: '2026-11-20T11:02:00.000Z',
            failed_at: null,
            late: false,
          },
        ],
        log_stopped: null,
      },
    },
  }),
  readVersions: operation({
    id: 'readVersions',
    kind: 'read',
    method: 'GET',
    path: '/operator/versions',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read the versions of release, schema and database',
    description:
      'Operator only. The release of the process that answers, and what its database has. `pending` is empty unless the ' +
      'database waits for `atrium migrate`.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The versions.',
        data: Type.Object({
          release: Type.String(),
          commit: nullable(
            Type.String({
              description: 'The commit that the release archive was made from. null: the process does not run from one.',
            }),
          ),
          api: Type.String({ description: 'The version of the API.' }),
          node: Type.String(),
          postgresql: Type.String(),
          citus: nullable(Type.String()),
          schema: Type.Object({
            newest: nullable(Type.String({ description: 'The newest migration that the database has.' })),
            migrations: count('Migrations that the database has.'),
            pending: Type.Array(Type.String(), { description: 'Migrations and SQL functions that are not applied.' }),
          }),
          functions: Type.Array(Type.Object({ name: Type.String(), version: Type.Integer({ minimum: 0 }) }), {
            description: 'The SQL functions of the database.',
          }),
        }),
      },
    },
    example: {
      data: {
        release: '0.1.0',
        commit: null,
        api: '1.0.0-beta',
        node: '24.21.0',
        postgresql: '18.4',
        citus: null,
        schema: { newest: '0081-processes-and-sweeps', migrations: 52, pending: [] },
        functions: [{ name: 'apply-transfers', version: 2 }],
      },
    },
  }),
}
