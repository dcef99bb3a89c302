/**
 * The roles of the members of a tenant, who use the console. The lists name the roles of an operation
 * (`Operation.roles`).
 */
export const memberRoles = ['owner', 'developer', 'moderator', 'analyst'] as const

export type MemberRole = (typeof memberRoles)[number]

/** Members, and the tenant's keys for model providers. */
export const owners = ['owner'] as const
/** Changes of keys, webhooks, agents and credits. */
export const developers = ['owner', 'developer'] as const
/** Reading these, without secrets. */
export const analysts = ['owner', 'developer', 'analyst'] as const
/** Curation of collections, items and artifacts. */
export const moderators = ['owner', 'developer', 'moderator'] as const
/** Reading collections, usage and events. */
export const everyMember = [...memberRoles] as const
