import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface Bom {
  serialNumber: string
  metadata: { timestamp?: string; component: { name: string; 'bom-ref': string } }
  components: { 'bom-ref': string; name: string; version: string }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

interface Lock {
  packages: Record<string, { name?: string; version?: string; dev?: true; link?: true }>
}

/**
 * The CycloneDX bill of materials of all that `npm ci --omit=dev` can install, on any platform, as `npm sbom` reads it
 * from the lock file. The time and the random serial number are replaced by values that depend on the release alone.
 */
export async function billOfMaterials(root: string, { name, committedAt }: { name: string; committedAt: string }) {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only']
  const npm = process.env['npm_execpath']
  const [program, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const { stdout } = await run(program, [...first, ...args], { cwd: root, maxBuffer: 64 * 1024 * 1024 })
  const bom = JSON.parse(stdout) as Bom
  dropDevelopment(bom, JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock)
  // npm names the folder that it runs in.
  bom.metadata.component.name = name
  bom.metadata.timestamp = committedAt
  bom.serialNumber = ''
  bom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bom))}`
  return `${JSON.stringify(bom, null, 2)}\n`
}

/**
 * Keeps the packages that are not for development alone. `npm sbom --omit=dev` also leaves out those that a workspace
 * needs and a dev dependency needs too, such as sharp.
 */
function dropDevelopment(bom: Bom, { packages }: Lock): void {
  const needed = new Set(
    Object.entries(packages).flatMap(([path, { name, version, dev }]) =>
      dev ? [] : [`${name ?? path.replace(/^.*node_modules\//, '')}@${version}`],
    ),
  )
  bom.components = bom.components.filter(({ name, version }) => needed.has(`${name}@${version}`))
  const kept = new Set([bom.metadata.component['bom-ref'], ...bom.components.map((component) => component['bom-ref'])])
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))
}

/** A UUID of version 8 (RFC 9562): its bits are those of a hash. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
