import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { serveMessage } from '../packages/mcp/src/serve-http.ts'
import { tools } from '../packages/mcp/src/tools.ts'
import { startTestApi, type TestApi } from '../packages/server/testing/test-api.ts'
import { freePort } from './support/atrium-process.ts'
import { fixtureTools } from './support/mcp-fixture-tools.ts'

// Installed separately, because it needs 51 MB.
const folder = fileURLToPath(new URL('mcp-conformance/node_modules', import.meta.url))
const program = `${folder}/@modelcontextprotocol/conformance/dist/index.js`
const install = 'npm ci --ignore-scripts --prefix tests/mcp-conformance'
const skip = existsSync(program) ? false : `the suite is not installed: ${install}`

/** On the server's routes, transport and protocol, with its own tools and those that the suite calls by name. */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'json-schema-2020-12',
  'dns-rebinding-protection',
]

const noResources = 'no resources: search_docs finds the documentation, and a tool can be called where a client has no resources'
const noPrompts = 'no prompts: the server has no text of its own that a user would pick'
const onlyText = 'tools answer with text and data: a picture is an address, because it could not be marked as untrusted'
const noLog = 'no logging: an operator reads the log of the server, and a caller gets the error with its answer'
const noRequests = 'a message is answered without a session, so that a server cannot ask its client something meanwhile'
const noSession = 'without a session there is no stream to take up again: a call is repeated with its idempotency_key'

/** Why a scenario is no test: it is about a capability that the server does not declare. */
const notApplicable: Record<string, string> = {
  'logging-set-level': noLog,
  'tools-call-with-logging': noLog,
  'completion-complete': 'no completion: it completes arguments of prompts and of resource templates, and there are none',
  'tools-call-image': onlyText,
  'tools-call-audio': onlyText,
  'tools-call-embedded-resource': onlyText,
  'tools-call-mixed-content': onlyText,
  'tools-call-with-progress': 'no tool takes long: paint_artifact answers at once, and get_artifact has the status',
  'tools-call-sampling': noRequests,
  'tools-call-elicitation': noRequests,
  'elicitation-sep1034-defaults': noRequests,
  'elicitation-sep1330-enums': noRequests,
  'server-sse-polling': noSession,
  'server-sse-multiple-streams': noSession,
  'resources-list': noResources,
  'resources-read-text': noResources,
  'resources-read-binary': noResources,
  'resources-templates-read': noResources,
  'resources-subscribe': noResources,
  'resources-unsubscribe': noResources,
  'prompts-list': noPrompts,
  'prompts-get-simple': noPrompts,
  'prompts-get-with-args': noPrompts,
  'prompts-get-embedded-resource': noPrompts,
  'prompts-get-with-image': noPrompts,
}

function conformance(...args: string[]): Promise<string> {
  return new Promise((resolve) =>
    execFile(process.execPath, [program, ...args], { timeout: 30_000, cwd: tmpdir() }, (_, out, errors) => resolve(out + errors)),
  )
}

describe('/mcp passes the conformance suite of the protocol', { skip, timeout: 90_000, concurrency: 2 }, () => {
  let api: TestApi
  let proxy: Server
  let url: string

  before(async () => {
    const port = await freePort()
    url = `http://localhost:${port}/mcp`
    const allTools = [...tools, ...fixtureTools]
    api = await startTestApi({ publicUrl: `http://localhost:${port}` }, (req, message, connection) =>
      serveMessage(req, message, connection, allTools),
    )
    const { secretKey } = await api.makeTenant()
    // The suite sends no credential: this adds it.
    proxy = createServer((req, res) => {
      const headers = { ...req.headers, authorization: `Bearer ${secretKey}` }
      const passed = request(api.origin + req.url, { method: req.method!, headers }, (answer) => {
        res.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(res)
      })
      req.pipe(passed)
    })
    await new Promise<void>((resolve) => proxy.listen(port, resolve))
  })
  after(async () => {
    proxy?.close().closeAllConnections()
    await api?.close()
  })

  for (const scenario of scenarios)
    test(scenario, async () => {
      const said = await conformance('server', '--url', url, '--scenario', scenario)
      assert.match(said, /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/, said)
    })

  test('each scenario of the suite is a test, or has a reason why it is none', async () => {
    const listed = [...(await conformance('list', '--server')).matchAll(/^ {2}- ([\w-]+)/gm)].map(([, name]) => name!)
    assert.deepEqual([...scenarios, ...Object.keys(notApplicable)].toSorted(), listed.toSorted())
  })
})
