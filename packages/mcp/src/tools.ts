import { operations } from '@atrium/contract/table'
import { Type } from '@atrium/contract/type'
import { docsTools } from './docs-tools.ts'
import { couponOf, operationTool } from './operation-tool.ts'
import { ToolError, type Tool } from './tool.ts'

const reads = { writes: false, open: true } as const
const readsOwn = { writes: false, open: false } as const
const ownerNote = 'Needs the owner token of the collection in the configuration of this server. '

const collectionTools: Tool[] = [
  operationTool({
    operation: operations.listCollections,
    name: 'list_collections',
    title: 'List collections',
    description: 'The collections of the tenant, newest first, with state, number of items and metadata. Needs a secret key.',
    hints: reads,
  }),
  operationTool({
    operation: operations.getCollection,
    name: 'get_collection',
    title: 'Read a collection',
    description: 'State, metadata and settings of a collection, and the addresses of its share page and its wall.',
    hints: reads,
    pick: ['id', 'metadata', 'state', 'contributor_policy', 'item_access', 'wall', 'item_count', 'created_at'],
    added: {
      schema: {
        links: {
          type: 'object',
          description: 'Pages for people, without a key. wall is null while the wall is switched off.',
          properties: { share_page: { type: 'string' }, wall: { type: ['string', 'null'] } },
          required: ['share_page', 'wall'],
          additionalProperties: false,
        },
      },
      of: ({ id, wall }, { publicUrl }) => ({
        links: {
          share_page: `${publicUrl}/v1/collections/${String(id)}/render`,
          wall: wall === true ? `${publicUrl}/v1/collections/${String(id)}/wall` : null,
        },
      }),
    },
  }),
  operationTool({
    operation: operations.createCollection,
    name: 'create_collection',
    title: 'Make a collection',
    description:
      'Makes a collection and returns its id. The owner token is not returned: over stdio this server keeps it while it runs; afterwards ' +
      'the tenant makes a new one with POST /collections/{id}/tokens. Needs a secret key.',
    hints: { writes: true, open: false },
    needs: { secretKey: true },
    fields: ['metadata', 'contributor_policy', 'item_access', 'wall'],
    pick: ['id'],
    keep: ({ id, admin_token }, { kept }) => kept?.collections.set(String(id), String(admin_token)),
  }),
]

const itemTools: Tool[] = [
  operationTool({
    operation: operations.listOpenItems,
    name: 'list_open_items',
    title: 'List the open items',
    description: 'What visitors of a collection may read: approved, not archived, with the access open.',
    hints: reads,
  }),
  operationTool({
    operation: operations.listItems,
    name: 'list_items',
    title: 'List all items',
    description: `${ownerNote}Every item with its curation flags, filtered by type, author, flags, time or text.`,
    hints: reads,
  }),
  operationTool({
    operation: operations.addItem,
    name: 'add_item',
    title: 'Add an item',
    description: 'Adds an item to an open collection. It is approved at once and may be public.',
    hints: { writes: true, open: true },
  }),
  operationTool({
    operation: operations.curateItem,
    name: 'curate_item',
    title: 'Curate an item',
    description: `${ownerNote}Approves, archives or features an item, or changes who may read it. Nothing is deleted.`,
    hints: { writes: true, open: true },
    fields: ['approved', 'archived', 'hero', 'access'],
  }),
]

const artifactTools: Tool[] = [
  operationTool({
    operation: operations.listArtifacts,
    name: 'list_artifacts',
    title: 'List artifacts',
    description: 'Pictures, clips and cards of a collection: the published ones; with its owner token in the configuration, all.',
    hints: reads,
  }),
  operationTool({
    operation: operations.getArtifact,
    name: 'get_artifact',
    title: 'Read an artifact',
    description: 'Status and address of an artifact. After paint_artifact, repeat this until the status is not painting.',
    hints: reads,
  }),
  operationTool({
    operation: operations.paintArtifact,
    name: 'paint_artifact',
    title: 'Paint a picture',
    description:
      `${ownerNote}Starts painting and returns at once. It uses the tenant's monthly allowance, or with use_coupon the credits of ` +
      'the configured coupon (stdio only). The picture is not published.',
    hints: { writes: true, destructive: true, open: true },
    ownFields: {
      prompt: operations.paintArtifact.body.properties.prompt,
      size: operations.paintArtifact.body.properties.size,
      seed: operations.paintArtifact.body.properties.seed,
      use_coupon: Type.Optional(Type.Boolean({ default: false, description: 'Pay with the coupon of the configuration.' })),
    },
    input: ({ prompt, size, seed, use_coupon: pays }, connection) => ({
      body: { prompt, size, seed, ...(pays === true ? { coupon: couponOf(connection) } : {}) },
    }),
  }),
]

/** The control token of a session that this process launched. */
function controlOf(args: { session_id?: unknown }, kept: Map<string, string> | undefined): { controlToken: string } {
  const controlToken = kept?.get(String(args.session_id))
  if (controlToken === undefined)
    throw new ToolError('This server did not launch that session. list_events shows what became of it (session.* events).')
  return { controlToken }
}

const launch = operations.launchSession.body.properties
const sessionTools: Tool[] = [
  operationTool({
    operation: operations.listCatalog,
    name: 'list_agents',
    title: 'List the agents of the catalog',
    description: 'Agents that can be launched into a room, with their price in credits and their longest duration.',
    hints: reads,
  }),
  operationTool({
    operation: operations.launchSession,
    name: 'launch_session',
    title: 'Launch an agent into a room',
    description:
      'Launches an agent into a room of the user, for at most max_price_credits of the configured coupon. Show the user agent, room and ' +
      'price first. The control token stays in this server: get_session and stop_session use it.',
    hints: { writes: true, destructive: true, open: true },
    needs: { stdio: true },
    ownFields: {
      agent_id: launch.agent_id,
      room: launch.room.properties.room,
      room_key: Type.String({
        minLength: 22,
        maxLength: 512,
        description:
          'The key of the room, from the link that the user gave for this purpose. Anyone who has it can read the room.',
      }),
      max_price_credits: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The highest price that the user agreed to, in whole credits. A higher one is refused.',
      }),
      max_minutes: launch.max_minutes,
    },
    input: ({ room, room_key: mk, agent_id, max_price_credits, max_minutes }, connection) => ({
      body: { agent_id, room: { room, mk }, coupon: couponOf(connection), max_price_credits, max_minutes },
    }),
    pick: ['id', 'agent_id', 'room', 'status', 'price_credits', 'created_at', 'expires_at', 'already_present'],
    keep: ({ id, control_token: token }, { kept }) => {
      if (typeof token === 'string') kept?.sessions.set(String(id), token)
    },
  }),
  operationTool({
    operation: operations.getSession,
    name: 'get_session',
    title: 'Read a session',
    description: 'Status, price and charge of a session that this server launched.',
    hints: reads,
    needs: { stdio: true },
    input: (args, { kept }) => controlOf(args, kept?.sessions),
  }),
  operationTool({
    operation: operations.stopSession,
    name: 'stop_session',
    title: 'Stop a session',
    description: 'Removes the agent of a session that this server launched, and settles the bill.',
    hints: { writes: true, destructive: true, open: false },
    needs: { stdio: true },
    input: (args, { kept }) => controlOf(args, kept?.sessions),
  }),
]

const tenantTools: Tool[] = [
  operationTool({
    operation: operations.lookUpWallet,
    name: 'get_balance',
    title: 'Read the balance',
    description: 'The credits of the coupon or wallet in the configuration: what can be spent, and what is held.',
    hints: readsOwn,
    needs: { stdio: true },
    input: (_args, connection) => ({ body: { wallet_code: couponOf(connection) } }),
  }),
  operationTool({
    operation: operations.getUsage,
    name: 'get_usage',
    title: 'Read the usage',
    description: 'Requests, items, paintings, launches, credits and bytes of the tenant by day or month. Needs a secret key.',
    hints: readsOwn,
  }),
  operationTool({
    operation: operations.listEvents,
    name: 'list_events',
    title: 'List events',
    description: 'What happened in the tenant after a sequence number, oldest first. Needs a secret key.',
    hints: reads,
  }),
  operationTool({
    operation: operations.listDeliveries,
    name: 'list_webhook_deliveries',
    title: 'List webhook deliveries',
    description:
      'Deliveries to the webhook, newest first, with attempts, status of the response and next attempt. Needs a secret key.',
    hints: reads,
  }),
]

/** All tools, in the order in which a client shows them. */
export const tools: readonly Tool[] = [
  ...collectionTools,
  ...itemTools,
  ...artifactTools,
  ...sessionTools,
  ...tenantTools,
  ...docsTools,
]
