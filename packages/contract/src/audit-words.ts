/**
 * Says in words what an entry of the audit log is about. Each operation that leaves an entry is here: a test compares the
 * table with the operations, and the server records no other name. Never remove a name, because there are entries with it.
 */
export const auditWords = {
  signUpTenant: 'Sign up with an invite',
  createTenant: 'Create a tenant',
  setTenantStatus: 'Suspend or restore a tenant',
  createInvite: 'Create an invite',
  revokeInvite: 'Revoke an invite',
  updateTenant: 'Edit a tenant',
  setTenantLimits: 'Change the limits of a tenant',
  exportOwnTenant: 'Export all data of the tenant',
  deleteOwnTenant: 'Delete the tenant',
  exportTenant: 'Export all data of a tenant',
  deleteTenant: 'Delete a tenant',
  cancelTenantDeletion: 'Cancel the deletion of a tenant',
  eraseTenant: 'Remove the data of a deleted tenant',
  createKey: 'Create or rotate a key',
  revokeKey: 'Revoke a key',
  reportLeakedKeys: 'Report a leaked key',
  setKeyLeakPolicy: 'Choose what happens to leaked keys',
  setProviderKeys: 'Change the keys of model providers',
  setWebhook: 'Set the default webhook endpoint',
  createWebhookEndpoint: 'Add a webhook endpoint',
  updateWebhookEndpoint: 'Edit a webhook endpoint',
  deleteWebhookEndpoint: 'Delete a webhook endpoint',
  recoverDeliveries: 'Send failed deliveries again',
  rotateCollectionTokens: 'Rotate the tokens of a collection',
  registerAgent: 'Register an agent',
  updateAgent: 'Edit an agent',
  setAgentStatus: 'Choose who may launch an agent',
  moderateAgent: 'Suspend or restore an agent',
  publishEpoch: 'Publish an epoch',
  resealSecrets: 'Seal secrets under the new master key',
  startAudit: 'Audit the ledger',
  createOperatorCredential: 'Create an operator credential',
  revokeOperatorCredential: 'Revoke an operator credential',
  createMember: 'Invite a member',
  updateMember: 'Edit a member or renew the invitation',
  removeMember: 'Remove a member',
  setRequestLogSettings: 'Switch the request log on or off',
  createConsoleLink: 'Make a link to the console',
  signInToConsole: 'Sign in to the console',
  signOutOfConsole: 'Sign out of the console',
  signOutOfConsoleEverywhere: 'Sign out in every browser',
  removeAuditEntries: 'Remove old entries of this log',
} as const

/** The name of an operation that leaves an entry in the audit log. */
export type AuditedOperation = keyof typeof auditWords

export function isAuditedOperation(name: string): name is AuditedOperation {
  return Object.hasOwn(auditWords, name)
}
