import { constants } from 'node:fs'
import { mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { extractArchive } from './archive.ts'
import { sha256, type VerifiedCertificate } from './certificate.ts'
import type { Deadline } from './deadline.ts'
import { CheckFailed, type Report } from './report.ts'
import { runProgram } from './run-program.ts'
import { findSandbox, type Sandbox } from './sandbox.ts'
import type { Source } from './source.ts'
import { checkManifests } from './source-manifests.ts'

const BUNDLE = 'packages/space/dist/space.mjs'
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024

/**
 * Builds the source in a new folder. Returns the bundle if it is the certified one. Runs code of the source:
 * docs/verification.md.
 */
export async function rebuild(
  report: Report,
  source: Source,
  certificate: VerifiedCertificate,
  deadline: Deadline,
): Promise<Buffer | undefined> {
  return report.check('rebuilding the source', async () => {
    const { packages, build } = checkManifests(source)
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'atrium-verify-')))
    let sandbox: Sandbox | undefined
    try {
      sandbox = await findSandbox(deadline)
      const bundle = await buildIn(folder, source, build, sandbox, deadline)
      const found = sha256(bundle)
      if (found !== certificate.functionCodeSha256) {
        throw new CheckFailed(
          `it makes code with the SHA-256 ${found}, but the certificate names ${certificate.functionCodeSha256}`,
        )
      }
      report.proved(`the source, with ${packages} packages of the public registry, makes the certified code: SHA-256 ${found}`)
      if (sandbox) report.proved(`the build ran in ${sandbox.name}, without network and without other files`)
      else report.notChecked('what else the build did: it ran with your rights (bubblewrap, podman or docker would confine it)')
      return bundle
    } finally {
      await sandbox?.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
}

async function buildIn(
  folder: string,
  source: Source,
  build: string,
  sandbox: Sandbox | undefined,
  deadline: Deadline,
): Promise<Buffer> {
  const root = join(folder, 'source')
  const home = join(folder, 'home')
  await mkdir(root)
  await mkdir(home)
  await extractArchive(source, root)
  await fetchPackages(folder, root, deadline)
  await runProgram('npm run build', sandbox?.program(build, root) ?? unconfined(build, root, home), deadline)
  return readBundle(root)
}

/** The variables with which npm finds registry, cache and proxy. */
const FOR_NPM = /^(?:PATH|HOME|TMPDIR|LANG|SystemRoot|APPDATA|USERPROFILE|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i
/** The build is untrusted code and gets only the variables that it needs. */
const FOR_THE_BUILD = /^(?:TMPDIR|LANG|SystemRoot)$/i

/**
 * Installs the packages of the lock file from the caller's registry, each verified by its hash. No code of the
 * packages or of the source runs in this step. --prefix is needed, because npm would use a package.json in a folder
 * above.
 */
async function fetchPackages(folder: string, root: string, deadline: Deadline): Promise<void> {
  const args = ['ci', '--prefix', root, '--ignore-scripts', '--no-audit', '--no-fund']
  const shell = process.platform === 'win32' // npm is a script there
  await runProgram('npm ci', { file: 'npm', args, folder, env: pick(FOR_NPM), shell }, deadline)
}

/** Runs the build script like `npm run build`, without the caller's home folder. */
function unconfined(build: string, root: string, home: string) {
  const path = [join(root, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter)
  const env = { ...pick(FOR_THE_BUILD), PATH: path, HOME: home, USERPROFILE: home }
  return { file: build, args: [], folder: root, env, shell: true }
}

function pick(wanted: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => wanted.test(entry[0])))
}

/**
 * Reads the bundle carefully: the build may have made a link to another file, an endless pipe, or a file larger than
 * memory.
 */
async function readBundle(root: string): Promise<Buffer> {
  const path = join(root, BUNDLE)
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined) throw new CheckFailed(`the build makes no ${BUNDLE}`)
  if (real !== path) throw new CheckFailed(`the build makes ${BUNDLE} a link`)
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw new CheckFailed(`the build makes ${BUNDLE}, which is not a regular file`)
    if (stat.size > MAX_BUNDLE_BYTES) throw new CheckFailed(`the build makes more than ${MAX_BUNDLE_BYTES} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
