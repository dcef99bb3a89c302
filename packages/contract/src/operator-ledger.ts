import { Type } from './type.ts'
import { AuditFinding } from './credits.ts'
import { operation } from './operation.ts'
import { credits, id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

const Audit = Type.Object({
  id: id('ledgerAudit'),
  state: oneOf(['queued', 'running', 'done', 'failed'], { description: 'failed: it did not end within ten minutes.' }),
  rules_checked: count('The rules that are checked so far.'),
  rules: count('The rules that it checks.'),
  accounts: nullable(Type.Integer({ minimum: 0 })),
  transfers: nullable(Type.Integer({ minimum: 0 })),
  credits: nullable(credits({ description: 'Credits in circulation.' })),
  finding_count: count('Inconsistencies; at most 1,000 are reported.'),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
})

const example = {
  id: 'lau_4fRzK0vXcB1mQwErTy7uPa',
  state: 'done',
  rules_checked: 10,
  rules: 10,
  accounts: 1_204,
  transfers: 5_310,
  credits: 98_500,
  finding_count: 0,
  created_at: '2026-11-20T09:30:00.000Z',
  started_at: '2026-11-20T09:30:03.000Z',
  finished_at: '2026-11-20T09:30:04.000Z',
}
const queued = {
  ...example,
  state: 'queued',
  rules_checked: 0,
  accounts: null,
  transfers: null,
  credits: null,
  started_at: null,
  finished_at: null,
}

export const operatorLedgerOperations = {
  startAudit: operation({
    id: 'startAudit',
    kind: 'write',
    method: 'POST',
    path: '/operator/audits',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Start an audit of the ledger',
    description:
      'Operator only. Queues an audit of the whole books, which begins within five seconds and takes at most ten minutes. ' +
      'While one is queued or running, the answer is that one. The last 100 are kept.',
    caller: 'operator',
    answers: { 202: { description: 'The audit.', data: Audit } },
    example: { data: queued },
  }),
  listAudits: operation({
    id: 'listAudits',
    kind: 'read',
    method: 'GET',
    path: '/operator/audits',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the audits of the ledger',
    description: 'Operator only. The audits that operators started, newest first, without their findings.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of audits.', data: Type.Array(Audit), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [example] },
  }),
  readAudit: operation({
    id: 'readAudit',
    kind: 'read',
    method: 'GET',
    path: '/operator/audits/{auditId}',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read an audit of the ledger',
    description: 'Operator only. The audit with its findings. `rules_checked` is its progress.',
    caller: 'operator',
    params: Type.Object({ auditId: id('ledgerAudit') }),
    answers: {
      200: { description: 'The audit.', data: Type.Object({ ...Audit.properties, findings: Type.Array(AuditFinding) }) },
    },
    errors: ['not_found'],
    example: { data: { ...example, findings: [] } },
  }),
  readLedgerProof: operation({
    id: 'readLedgerProof',
    kind: 'read',
    method: 'GET',
    path: '/operator/ledger',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read the result of the continuous audit',
    description:
      'Operator only. Every minute, what was added to the books is compared with the balances, and once a day everything ' +
      'is. `proof` is null before the first time.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The result.',
        data: Type.Object({
          proof: nullable(
            Type.Object({
              findings: count('Inconsistencies that the last step found.'),
              credits: credits({ description: 'Credits in circulation.' }),
              proved_at: Timestamp,
              full_at: Type.String({ format: 'date-time', description: 'When everything was last read.' }),
            }),
          ),
        }),
      },
    },
    example: {
      data: {
        proof: { findings: 0, credits: 98_500, proved_at: '2026-11-20T09:30:00.000Z', full_at: '2026-11-20T02:00:00.000Z' },
      },
    },
  }),
}
