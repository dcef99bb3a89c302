/**
 * Writes docs/errors: a page for each error code and an index, from the error table and the table of operations.
 * --check: writes nothing, and fails with the name of each file that is out of date.
 */
import { errorCodesOf } from '../packages/contract/src/error-codes.ts'
import { errorExample } from '../packages/contract/src/error-example.ts'
import { errors, type ErrorCode } from '../packages/contract/src/errors.ts'
import type { Operation } from '../packages/contract/src/operation.ts'
import { operations } from '../packages/contract/src/table.ts'
import { writeOrCheck } from './write-or-check.ts'

const folder = 'docs/errors'
const codes = Object.keys(errors) as ErrorCode[]
/** The operations whose answers have codes. The Space endpoint has flat errors of its own. */
const answering = Object.values<Operation>(operations).filter((op) => !op.flatErrors)

const files = new Map(codes.map((code) => [`${folder}/${code}.md`, pageOf(code)]))
files.set(`${folder}/README.md`, indexPage())

await writeOrCheck({ files, command: 'node scripts/error-pages.ts', ownFolder: folder })

function pageOf(code: ErrorCode): string {
  const { status, title, cause, remedy } = errors[code]
  return [
    `# \`${code}\`: ${title}`,
    `Status ${status}.`,
    '## Why',
    cause,
    '## What to do',
    remedy,
    '## Example',
    `\`\`\`json\n${JSON.stringify(errorExample(code), null, 2)}\n\`\`\``,
    '## Who answers it',
    whoAnswers(code),
    `[All error codes](README.md)\n`,
  ].join('\n\n')
}

function whoAnswers(code: ErrorCode): string {
  const those = answering.filter((op) => errorCodesOf(op).includes(code))
  if (those.length === answering.length) return 'Every operation.'
  if (those.length === 0) return 'No operation of its own accord: it is answered before one is reached.'
  return those.map((op) => `- \`${op.method} ${op.path}\` (${op.id}${op.status === 'live' ? '' : `, ${op.status}`})`).join('\n')
}

function indexPage(): string {
  return [
    '# Error codes',
    'Every error answer is `{"error": {"code", "message", "request_id", "reason"?, "details"?}}`. Programs go by the code; the message is for ' +
      'people, and its words may change. The Space endpoint answers flat, with `{"error", "reason"}`.',
    [
      '| Status | Code | |',
      '|---|---|---|',
      ...codes.map((code) => `| ${errors[code].status} | [\`${code}\`](${code}.md) | ${errors[code].title} |`),
    ].join('\n'),
    'These pages are written by `scripts/error-pages.ts` out of `packages/contract/src/errors.ts`.\n',
  ].join('\n\n')
}
