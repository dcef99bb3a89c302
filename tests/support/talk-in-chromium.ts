import { startTestBrowser, startTestServer } from '../../packages/web/src/testing/start-test-browser.ts'

const script = `
async function talk(turnUrl, key, words) {
  const answer = await fetch(turnUrl, { headers: { authorization: 'Bearer ' + key } })
  const { iceServers } = (await answer.json()).data
  const [caller, callee] = [1, 2].map(() => new RTCPeerConnection({ iceServers, iceTransportPolicy: 'relay' }))
  const types = new Set()
  for (const [from, to] of [[caller, callee], [callee, caller]]) {
    from.onicecandidate = ({ candidate }) => {
      if (candidate?.type) types.add(candidate.type)
      if (candidate) to.addIceCandidate(candidate)
    }
  }
  const channel = caller.createDataChannel('words')
  channel.onopen = () => channel.send(words)
  const heard = new Promise((resolve, reject) => {
    callee.ondatachannel = ({ channel }) => (channel.onmessage = ({ data }) => resolve(data))
    setTimeout(reject, 20_000, new Error('nothing came through the relay in 20 s'))
  })
  await caller.setLocalDescription()
  await callee.setRemoteDescription(caller.localDescription)
  await callee.setLocalDescription()
  await caller.setRemoteDescription(callee.localDescription)
  return { heard: await heard, types: [...types] }
}`

/**
 * A page of another origin requests relay credentials and passes them to two RTCPeerConnections that may use only
 * relays. Returns what the second received, and the types of the candidates.
 */
export async function talkInChromium(turnUrl: string, key: string, words: string): Promise<{ heard: string; types: string[] }> {
  const browser = await startTestBrowser()
  const site = await startTestServer((_, res) =>
    res.setHeader('content-type', 'text/html').end(`<!doctype html><script>${script}</script>`),
  )
  try {
    const page = await browser.newPage()
    await page.goto(site.origin)
    return await page.evaluate(`talk(...${JSON.stringify([turnUrl, key, words])})`)
  } finally {
    site.stop()
    await browser.close()
  }
}
