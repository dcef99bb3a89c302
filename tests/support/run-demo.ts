import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { adminToken } from './atrium-process.ts'

const demo = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url))

export interface DemoRun {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs what `npm run demo` runs, against the server on the port. */
export function runDemo(origin: string): Promise<DemoRun> {
  const child = spawn(process.execPath, [demo], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: new URL(origin).port, ATRIUM_PUBLIC_URL: '', ATRIUM_ADMIN_TOKEN: adminToken },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr += chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}
