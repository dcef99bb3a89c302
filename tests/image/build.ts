/** The image, made from the release archive by buildah, without a container engine or a registry of images. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { skipWithout } from '../support/skip-without.ts'
import type { Image, ImageConfig } from './container.ts'

export const run = promisify(execFile)
export const root = fileURLToPath(new URL('../..', import.meta.url))
/** Overlay file systems take a third off a build. Where they cannot be mounted, such as within a container, files are copied. */
const driver = canOverlay() ? 'overlay' : 'vfs'
const store = join(process.env['ATRIUM_TEST_OCI_STORE'] ?? '/var/tmp/atrium-oci', driver)
const release = 'bookworm'
const debian = `docker.io/library/debian:${release}-slim`
const base = 'localhost/atrium-base:slim'
const certificates = '/etc/ssl/certs/ca-certificates.crt'

export const skip =
  skipWithout('buildah', 'debootstrap', 'setpriv') ||
  (process.getuid?.() === 0 ? false : 'needs root, to build an image without a container engine')

const buildah = (...args: string[]) => ['--storage-driver', driver, '--root', store, '--runroot', `${store}-run`, ...args]

function canOverlay(): boolean {
  const folder = mkdtempSync('/var/tmp/atrium-overlay-')
  const mount = 'cd "$0" && mkdir a b c d && mount -t overlay -o lowerdir=a,upperdir=b,workdir=c overlay d'
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', mount, folder], { stdio: 'ignore' })
  rmSync(folder, { recursive: true })
  return status === 0
}

/** Runs buildah over the tests' store of images. Returns what it printed. */
export async function inStore(...args: string[]): Promise<string> {
  return (await run('buildah', buildah(...args), { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout.trim()
}

async function hasImage(tag: string): Promise<boolean> {
  return (await inStore('images', '--format={{.Name}}:{{.Tag}}')).split('\n').includes(tag)
}

/** Debian, made of its own packages, from the mirror that this machine uses: no registry is needed. */
async function makeDebian(): Promise<void> {
  if (await hasImage(debian)) return
  const folder = await mkdtemp(join(tmpdir(), 'atrium-debian-'))
  try {
    const targets = ['indextargets', '--format=$(REPO_URI)', 'Created-By: Packages', `Codename: ${release}`]
    const [mirror = ''] = (await run('apt-get', targets)).stdout.split('\n')
    const options = ['--variant=minbase', '--include=ca-certificates', release, folder, ...(mirror ? [mirror] : [])]
    await run('debootstrap', options, { maxBuffer: 64 * 1024 * 1024 })
    const container = await inStore('from', 'scratch')
    await inStore('add', '--quiet', container, folder, '/')
    await inStore('commit', '--quiet', '--rm', container, debian)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * The base image: Debian's packages, without what Debian's own slim image leaves out (documentation, translations, and
 * the lists and archives of apt), so that its size is that of the real one.
 */
export async function makeBase(): Promise<void> {
  await makeDebian()
  if (await hasImage(base)) return
  const container = await inStore('from', '--pull-never', debian)
  const left = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/lintian/*']
  const apt = ['/var/lib/apt/lists/*', '/var/cache/apt/*', '/var/log/*']
  await inStore('run', '--isolation=chroot', container, '--', 'sh', '-c', `rm -rf ${[...left, ...apt].join(' ')}`)
  await inStore('commit', '--squash', '--rm', container, base)
}

/**
 * Builds the target of deploy/Containerfile from dist/release. What an earlier target has in common with it is not built
 * again.
 */
export async function buildImage(target: string, tag: string): Promise<void> {
  await makeBase()
  // The machine's authorities: its registry may be behind a proxy that has one of its own.
  const authorities = ['CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'].map((name) => `--build-arg=${name}=/host-authorities.crt`)
  const proxy = existsSync(certificates) ? [`--volume=${certificates}:/host-authorities.crt:ro`, ...authorities] : []
  // With files copied, a layer for each step takes longer than it saves.
  const layers = driver === 'overlay' ? ['--layers'] : []
  const build = ['bud', '--isolation=chroot', '--pull-never', ...layers, `--build-arg=DEBIAN=${base}`, `--target=${target}`]
  await inStore(...build, ...proxy, `--tag=${tag}`, '--file=deploy/Containerfile', '.')
}

/** Builds deploy/egress-proxy. */
export async function buildEgressProxy(tag: string): Promise<void> {
  await makeDebian()
  await inStore('bud', '--isolation=chroot', '--pull-never', `--tag=${tag}`, 'deploy/egress-proxy')
}

/** Removes what only earlier builds needed. */
export async function removeLeftLayers(): Promise<void> {
  await inStore('rmi', '--prune').catch(() => undefined)
}

/** A working container of the image, mounted. `remove` ends with it. */
export async function mountImage(tag: string): Promise<Image & { container: string; remove(): Promise<void> }> {
  const container = await inStore('from', '--pull-never', tag)
  const { OCIv1 } = JSON.parse(await inStore('inspect', '--type=image', tag)) as { OCIv1: { config: ImageConfig } }
  return {
    container,
    root: await inStore('mount', container),
    config: OCIv1.config,
    remove: async () => void (await inStore('rm', container)),
  }
}

/** The sizes of the image's layers as a registry has them, compressed, the base first. In bytes. */
export async function layerSizes(tag: string, folder: string): Promise<number[]> {
  await inStore('push', '--format=oci', tag, `oci:${folder}:test`)
  const blob = async (digest: string) =>
    JSON.parse(await readFile(join(folder, 'blobs/sha256', digest.replace('sha256:', '')), 'utf8')) as object
  const { manifests } = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as { manifests: { digest: string }[] }
  const manifest = (await blob(manifests[0]!.digest)) as { layers: { size: number }[] }
  await rm(folder, { recursive: true })
  return manifest.layers.map(({ size }) => size)
}
