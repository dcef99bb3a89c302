import { randomUUID } from 'node:crypto'
import { callOperator, OperatorError } from '../../packages/cli/src/operator-api.ts'
import { createClient } from '../../packages/client/src/create-client.ts'
import { readConfig } from '../../packages/server/src/config/config.ts'
import { readEnv } from '../../packages/server/src/config/env.ts'
import { checkSharePage } from './check-share-page.ts'
import { closeWall } from './close-wall.ts'
import { curateWall } from './curate-wall.ts'
import { fillWall } from './fill-wall.ts'
import { hangPictures, pictureUrl } from './hang-pictures.ts'
import { inviteAgent } from './invite-agent.ts'
import { note, step } from './narrate.ts'
import { itemAt, readWall, type Collection, type Wall } from './wall.ts'

export interface Demo {
  /** Of the collection in the API. */
  wallUrl: string
  shareUrl: string
  /** The link of the agent's room, with its key. */
  roomUrl: string
  ownerToken: string
  publishableKey: string
}

/** Plays the evening against the running server and prints each step. Throws if a result is wrong. */
export async function playDemo(): Promise<Demo> {
  const { publicUrl } = readConfig(readEnv())
  const wall = await readWall()
  await assertReady(publicUrl, wall)
  console.log(`${wall.collection.name}, played at ${publicUrl}`)

  const { secretKey, publishableKey } = await signUp(publicUrl)
  const owner = createClient({ baseUrl: publicUrl, key: secretKey })
  // Many of them share one IP address here, so they retry after a 429 more often than a single person would.
  const people = createClient({ baseUrl: publicUrl, key: publishableKey, retries: 8 })
  const anyone = createClient({ baseUrl: publicUrl })

  const collection = await makeCollection(owner, wall)
  const itemIds = await fillWall(people, collection, wall)
  await curateWall(owner, collection, wall, itemIds)
  await hangPictures(owner, people, collection, wall, publicUrl)
  await closeWall(owner, people, collection)
  await checkSharePage(anyone, collection, wall, publicUrl)
  const { room, mk } = await inviteAgent(owner, people, publicUrl)

  const wallUrl = `${publicUrl}/v1/collections/${collection.id}`
  return {
    wallUrl,
    shareUrl: `${wallUrl}/render`,
    roomUrl: `${await readSpacesUrl(publicUrl)}/space#${room}.${mk}`,
    ownerToken: collection.ownerToken,
    publishableKey,
  }
}

async function assertReady(publicUrl: string, wall: Wall): Promise<void> {
  const running = await statusOf(`${publicUrl}/readyz`)
  if (running === undefined) {
    throw new OperatorError(`nothing answers at ${publicUrl}: run npm start first (ATRIUM_PUBLIC_URL or PORT say where it is)`)
  }
  if (running !== 200) throw new OperatorError(`the server at ${publicUrl} is not ready: /readyz answers ${running}`)
  const pictures = await statusOf(pictureUrl(publicUrl, itemAt(wall.artifacts, 0)))
  if (pictures !== 200)
    throw new OperatorError(`the server at ${publicUrl} does not serve the demo's pictures: it runs in production`)
}

/** Where the server says that its Space app is: only the server knows its SPACE_PORT and ATRIUM_SPACES_URL. */
async function readSpacesUrl(publicUrl: string): Promise<string> {
  const index = (await (await fetch(publicUrl)).json()) as { spaces_app_url: string }
  return index.spaces_app_url
}

function statusOf(url: string): Promise<number | undefined> {
  return fetch(url).then(
    (res) => res.status,
    () => undefined,
  )
}

async function signUp(publicUrl: string): Promise<{ secretKey: string; publishableKey: string }> {
  step('A library signs up')
  const { invite_code } = await callOperator<{ invite_code: string }>('POST /tenants/invites', { uses: 1 })
  note('The operator made an invite for one.')
  const { data } = await createClient({ baseUrl: publicUrl }).signUpTenant({
    body: { invite_code, name: 'Alder Quay Library', email: 'maren@alderquay.example' },
    idempotencyKey: randomUUID(),
  })
  note(`${data.tenant.name} signed up with it (${data.tenant.id}) and got a secret key for its server`)
  note('and a publishable key for the page that its visitors open.')
  return { secretKey: data.secret_key, publishableKey: data.publishable_key }
}

async function makeCollection(owner: ReturnType<typeof createClient>, wall: Wall): Promise<Collection> {
  step('Its server makes the wall')
  const { data } = await owner.createCollection({
    body: { metadata: wall.collection.metadata, contributor_policy: 'token' },
    idempotencyKey: randomUUID(),
  })
  if (!data.contributor_token) throw new Error('a collection with policy token came without a contributor token')
  note(`${data.id}. One token makes its owner, another lets people add and nothing else.`)
  return { id: data.id, ownerToken: data.admin_token, contributorToken: data.contributor_token }
}
