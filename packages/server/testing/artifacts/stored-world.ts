import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { send, type Got, sendUntilServed } from '../http.ts'
import type { TestApi, TestTenant } from '../test-api.ts'
import { sendHttp, type HttpAnswer } from '../blobs/send-http.ts'

export interface Place {
  id: string
  owner: { key: string; collectionToken: string }
}

export interface Announced {
  kind: 'image' | 'clip' | 'card'
  mime: string
  bytes: number
  sha256?: string
  title?: string
  alt?: string
}

/** A tenant with the calls that store artifacts. */
export class StoredWorld {
  readonly api: TestApi
  readonly tenant: TestTenant

  private constructor(api: TestApi, tenant: TestTenant) {
    this.api = api
    this.tenant = tenant
  }

  static async open(api: TestApi): Promise<StoredWorld> {
    return new StoredWorld(api, await api.makeTenant())
  }

  async makeCollection(metadata: object = {}): Promise<Place> {
    const key = this.tenant.publishableKey
    const { data } = (await send(this.api, 'POST', '/collections', { key, body: { metadata } })).body
    return { id: data.id, owner: { key, collectionToken: data.admin_token } }
  }

  announce(place: Place, body: Announced, more: object = {}): Promise<Got> {
    const options = { ...place.owner, idempotencyKey: randomUUID(), ...more, body }
    return sendUntilServed(this.api, 'POST', `/collections/${place.id}/artifacts/upload`, options)
  }

  /** Sends the bytes to the address of the upload. */
  put(upload: { url: string; headers: Record<string, string> }, bytes: Buffer): Promise<HttpAnswer> {
    return sendHttp('PUT', upload.url.replace(this.api.ctx.config.publicUrl, this.api.origin), upload.headers, bytes)
  }

  ready(place: Place, id: string): Promise<Got> {
    return send(this.api, 'POST', `/collections/${place.id}/artifacts/${id}/ready`, place.owner)
  }

  /** Announces and completes an upload. Returns the artifact's id and the second answer. */
  async upload(place: Place, bytes: Buffer, mime: string, kind: Announced['kind'] = 'image') {
    const { data } = (await this.announce(place, { kind, mime, bytes: bytes.length })).body
    assert.equal((await this.put(data.upload, bytes)).status, 200)
    return { id: data.id as string, got: await this.ready(place, data.id) }
  }

  /** Uploads a picture and publishes it. */
  async publish(
    place: Place,
    bytes: Buffer,
    mime: string,
    kind: Announced['kind'] = 'image',
    flags: object = {},
  ): Promise<string> {
    const { id, got } = await this.upload(place, bytes, mime, kind)
    assert.equal(got.status, 200, got.text)
    const body = { published: true, ...flags }
    await send(this.api, 'PATCH', `/collections/${place.id}/artifacts/${id}`, { ...place.owner, body })
    return id
  }

  get(place: Place, id: string): Promise<Got> {
    return send(this.api, 'GET', `/collections/${place.id}/artifacts/${id}`, place.owner)
  }

  media(idAndQuery: string, headers: Record<string, string> = {}, method = 'GET'): Promise<HttpAnswer> {
    return sendHttp(method, `${this.api.baseUrl}/media/${idAndQuery}`, headers)
  }

  ownerMedia({ owner }: Place, idAndQuery: string): Promise<HttpAnswer> {
    return this.media(idAndQuery, { 'x-collection-token': owner.collectionToken })
  }

  /** The keys of the collection's blobs, including its uploads. */
  async keys(place: Place): Promise<string[]> {
    const within = `${this.tenant.id}/${place.id}/`
    const pages = await Promise.all([within, `uploads/${within}`].map((prefix) => this.api.ctx.blobs.list(prefix)))
    return pages.flatMap(({ blobs }) => blobs.map(({ key }) => key))
  }
}
