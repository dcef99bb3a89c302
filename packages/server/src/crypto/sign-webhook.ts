import { Webhook } from 'standardwebhooks'

/** The `webhook-*` headers of Standard Webhooks. Each secret (whsec_…) signs, the newest first. */
export function signedHeaders(secrets: string[], messageId: string, body: string): Record<string, string> {
  const now = new Date()
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, now, body)).join(' '),
  }
}
