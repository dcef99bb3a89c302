import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startTestApi } from '../packages/server/testing/test-api.ts'
import { freePort } from './support/atrium-process.ts'

// Installed separately, because it needs 51 MB.
const folder = fileURLToPath(new URL('mcp-conformance/node_modules', import.meta.url))
const program = `${folder}/@modelcontextprotocol/conformance/dist/index.js`
const install = 'npm ci --ignore-scripts --prefix tests/mcp-conformance'
const skip = existsSync(program) ? false : `the suite is not installed: ${install}`
/** Of the 32 scenarios. Many of the others call tools of the example server of the suite. */
const scenarios = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']

describe('/mcp passes four scenarios of the conformance suite of the protocol', { skip, timeout: 60_000 }, () => {
  for (const scenario of scenarios) {
    test(scenario, async (t) => {
      const port = await freePort()
      const publicUrl = `http://localhost:${port}`
      const api = await startTestApi({ publicUrl })
      t.after(() => api.close())
      const { secretKey } = await api.makeTenant()
      // The suite sends no credential: this adds it.
      const proxy = createServer((req, res) => {
        const headers = { ...req.headers, authorization: `Bearer ${secretKey}` }
        const passed = request(api.origin + req.url, { method: req.method!, headers }, (answer) => {
          res.writeHead(answer.statusCode!, answer.headers)
          answer.pipe(res)
        })
        req.pipe(passed)
      })
      await new Promise<void>((resolve) => proxy.listen(port, resolve))
      t.after(() => {
        proxy.close().closeAllConnections()
      })
      const args = [program, 'server', '--url', `${publicUrl}/mcp`, '--scenario', scenario]
      const said = await new Promise<string>((resolve) =>
        execFile(process.execPath, args, { timeout: 30_000, cwd: tmpdir() }, (_, out, errors) => resolve(out + errors)),
      )
      assert.match(said, /Passed: (\d+)\/\1, 0 failed, 0 warnings/, said)
    })
  }
})
