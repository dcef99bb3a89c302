import assert from 'node:assert/strict'
import { chown, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { askGood, makeCollection, makeTenant } from '../support/call-api.ts'
import { type Container, type Image, startContainer, untilAnswers } from './container.ts'

/** The image of one machine: `podman run … atrium:with-postgres`, with a volume that stays. */
export function testWithPostgres(image: () => Image, folder: () => string): void {
  describe('the image with the embedded PostgreSQL', () => {
    let data: string
    let secrets: string
    let port: number
    let spacePort: number
    let container: Container
    before(async () => {
      ;[port, spacePort] = [await freePort(), await freePort()]
      const [owner = 0, group = 0] = image().config.User.split(':').map(Number)
      const makeFolder = async (name: string) => {
        const made = await mkdtemp(join(folder(), `${name}-`))
        await chown(made, owner, group)
        return made
      }
      data = await makeFolder('embedded')
      secrets = await makeFolder('embedded-secrets')
      await writeFile(join(secrets, 'admin-token'), adminToken)
    })
    after(() => container?.stop('SIGKILL'))

    const start = async () => {
      container = startContainer(image(), {
        args: ['start'],
        env: {
          HOST: '127.0.0.1',
          PORT: String(port),
          SPACE_PORT: String(spacePort),
          ATRIUM_PUBLIC_URL: origin(),
          ATRIUM_SPACES_URL: `http://localhost:${spacePort}`,
          ATRIUM_ADMIN_TOKEN_FILE: '/run/secrets/admin-token',
        },
        volumes: [`${data}:/data`, `${secrets}:/run/secrets:ro`],
      })
      await untilAnswers(`${origin()}/readyz`, () => container.output())
      await untilAnswers(`http://localhost:${spacePort}/cert.json`, () => container.output())
    }
    const origin = () => `http://localhost:${port}`

    test('makes its database, migrates it, and is healthy', async () => {
      await start()
      const { code, output } = await container.exec('node', '/app/deploy/container/health.mjs')
      assert.equal(code, 0, output)
    })

    test('keeps what it acknowledged over SIGKILL, a stop and further starts', async () => {
      const tenant = await makeTenant(origin())
      const { id, token } = await makeCollection(origin(), tenant.secret)
      const added: string[] = []
      const add = async () => {
        const body = { type: 'message', content: { n: added.length } }
        const { data: item } = await askGood(origin(), `POST /v1/collections/${id}/items`, { key: tenant.secret, body })
        added.push(item.id)
      }
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        for (let i = 0; i < 20; i++) await add()
        const code = await container.stop(signal)
        if (signal === 'SIGTERM') assert.equal(code, 0, container.output().slice(-2_000))
        await start()
        const route = `GET /v1/collections/${id}/items?limit=200`
        const { data: list } = await askGood(origin(), route, { key: tenant.secret, token })
        assert.deepEqual(list.items.map((item) => item.id).toSorted(), added.toSorted(), `after ${signal}`)
      }
    })
  })
}
