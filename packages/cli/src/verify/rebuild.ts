import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { extractArchive } from './archive.ts'
import { sha256, type VerifiedCertificate } from './certificate.ts'
import { CheckFailed, type Report } from './report.ts'
import { checkLock, type Source } from './source.ts'

const TIMEOUT_MS = 10 * 60_000
const run = promisify(execFile)

/** Builds the source in a folder of its own; the bundle, when it is the certified one. Runs code of the source: docs/verification.md. */
export async function rebuild(report: Report, source: Source, certificate: VerifiedCertificate): Promise<Buffer | undefined> {
  return report.check('rebuilding the source', async () => {
    const packages = checkLock(source)
    const folder = await mkdtemp(join(tmpdir(), 'atrium-verify-'))
    try {
      await extractArchive(source, folder)
      await npm(folder, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
      await npm(folder, ['run', 'build'])
      const bundle = await readFile(join(folder, 'packages/space/dist/space.mjs'))
      const found = sha256(bundle)
      if (found !== certificate.functionCodeSha256) {
        throw new CheckFailed(
          `it makes code with the SHA-256 ${found}, and the certificate says ${certificate.functionCodeSha256}`,
        )
      }
      report.proved(`the source, with ${packages} packages of the public registry, makes the certified code: SHA-256 ${found}`)
      return bundle
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

/** The build is another's code: it gets no variable that it does not need. */
const PASSED_ON = /^(?:PATH|HOME|TMPDIR|LANG|SystemRoot|APPDATA|USERPROFILE|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i

async function npm(folder: string, args: readonly string[]): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name)))
  try {
    const shell = process.platform === 'win32' // npm is a script there
    await run('npm', args, { cwd: folder, env, shell, timeout: TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 })
  } catch (error) {
    const { stderr = '', stdout = '', message } = error as { stderr?: string; stdout?: string; message: string }
    const output = (stderr + stdout).trim().slice(-1_000) || message
    throw new CheckFailed(`npm ${args.slice(0, 2).join(' ')} failed: ${output}`)
  }
}

/** A file of the app, as the bundle holds it. */
export interface CertifiedFile {
  readonly path: string
  readonly body: Buffer
}

/** Reads the app's files out of a bundle: packages/space/build/bundle.ts puts them there as JSON. */
export function readAppOfBundle(bundle: Uint8Array): CertifiedFile[] {
  const json = /^\/\/ embedded:atrium:embedded\n(?:.*\n){0,3}?var app\d* = (\[.*\]);$/m.exec(Buffer.from(bundle).toString())?.[1]
  if (!json) throw new CheckFailed('the app cannot be found in the certified code')
  const files = JSON.parse(json) as { path: string; body: string }[]
  return files.map(({ path, body }) => ({ path, body: Buffer.from(body, 'base64') }))
}
