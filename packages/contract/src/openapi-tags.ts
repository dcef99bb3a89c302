/** The sections of the API reference, in order. */
export const tags = [
  { name: 'Tenants', description: 'Signing up, and the tenant of a key.' },
  { name: 'Operator', description: 'For the operator of the installation. Not in the published document.' },
  { name: 'Keys', description: 'Creating, rotating and revoking secret and publishable keys.' },
  { name: 'Provider keys', description: "The tenant's keys for model providers. Sealed at rest." },
  { name: 'Webhooks', description: 'Events, sent to an endpoint or polled.' },
  { name: 'Usage', description: "The tenant's usage, by day or month." },
  {
    name: 'Collections',
    description: 'Containers of items and artifacts, with metadata, a forward-only state and an owner token.',
  },
  { name: 'Items', description: 'What people add to a collection, and how the owner curates it.' },
  { name: 'Share page', description: 'The public page of a collection, for anyone with the link.' },
  { name: 'Artifacts', description: 'Outputs of a collection: images, clips and cards; added, painted, produced or uploaded.' },
  { name: 'Agents', description: 'The registry of agents and its public catalog.' },
  { name: 'Sessions', description: 'Agents launched into rooms, billed per launch.' },
  { name: 'Credits', description: 'Wallets, license keys, blind tokens, coupons and checkout. Amounts are whole credits.' },
  { name: 'Infra', description: 'Relay credentials.' },
  { name: 'Space', description: 'Asynchronous rooms whose history the operator cannot read.' },
] as const
