/**
 * The main entry of the package `@atrium/client`. Separate entries have what needs much code (`blind-token`), what
 * needs Node (`blind-sign`) and what few apps use (`remote-agent`, `epoch-of`).
 */
export type { AtriumEvent } from './atrium-event.ts'
export { AtriumError } from './atrium-error.ts'
export type { AtriumClient, BodyFor, DataOf } from './call.ts'
export { type ClientOptions, createClient } from './create-client.ts'
export { makeDeviceKey } from './device-key.ts'
export * from './errors.ts'
export { followStream, type StreamMessage } from './follow-stream.ts'
export { newRoomSecret } from './new-room-secret.ts'
export { type Entry, openRoom, type Room, type RoomOptions, type RoomPage, type SaidEntry } from './open-room.ts'
export { paginate } from './paginate.ts'
export { pullEvents } from './pull-events.ts'
export { readExport } from './read-export.ts'
export { DamagedHistoryError, openHistory, type RoomHistory, sealHistory } from './room-history.ts'
export { signWebhook, verifyWebhook, WebhookVerificationError } from './verify-webhook.ts'
