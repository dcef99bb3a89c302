import assert from 'node:assert/strict'
import { askGood, call, type Answer } from './call-api.ts'

/** Where a file goes. */
export interface UploadPlace {
  origin: string
  key: string
  collection: string
  /** Of its owner. */
  token: string
}

export interface Upload {
  id: string
  upload: { url: string; headers: Record<string, string> }
}

export async function announce(place: UploadPlace, body: { kind?: string; mime: string; bytes: number }): Promise<Upload> {
  const { origin, collection, key, token } = place
  const route = `POST /v1/collections/${collection}/artifacts/upload`
  return (await askGood(origin, route, { key, token, body: { kind: 'clip', ...body } })).data as unknown as Upload
}

/** The first half. */
export async function sendFile(place: UploadPlace, mime: string, bytes: Buffer, kind = 'clip'): Promise<{ id: string }> {
  const { id, upload } = await announce(place, { kind, mime, bytes: bytes.length })
  const sent = await fetch(upload.url, { method: 'PUT', headers: { 'content-type': mime }, body: new Uint8Array(bytes) })
  assert.equal(sent.status, 200, await sent.text())
  return { id }
}

interface Ready extends Answer {
  id: string
}

/** Announces and completes an upload. Returns the answer to the second request. */
export async function uploadFile(place: UploadPlace, mime: string, bytes: Buffer, kind = 'clip'): Promise<Ready> {
  const { id } = await sendFile(place, mime, bytes, kind)
  const { origin, collection, key, token } = place
  return { id, ...(await call(origin, `POST /v1/collections/${collection}/artifacts/${id}/ready`, { key, token })) }
}

/** A picture of one pixel. */
export const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
