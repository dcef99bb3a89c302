/** The types of the entries that an installation logs. docs/transparency-log.md explains them. */
export const entryTypes = ['certificate', 'signing_key', 'epoch', 'app_page', 'books', 'event_heads', 'agent_card'] as const

export type EntryType = (typeof entryTypes)[number]
