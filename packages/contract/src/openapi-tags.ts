/** The chapters of the reference, in their order. */
export const tags = [
  { name: 'Tenants', description: 'Signing up, and who the key belongs to.' },
  { name: 'Operator', description: 'For those who run the installation. Not in the published document.' },
  { name: 'Keys', description: 'Secret and publishable keys: made, rotated, revoked.' },
  { name: 'Provider keys', description: "The tenant's own keys for those who run models. Sealed at rest." },
  { name: 'Webhooks', description: 'What happened, pushed to an address or pulled.' },
  { name: 'Usage', description: 'What the tenant used.' },
  {
    name: 'Collections',
    description: 'Containers of items and artifacts, with metadata, a forward-only state and an owner token.',
  },
  { name: 'Items', description: 'What people add to a collection, and its curation.' },
  { name: 'Share page', description: 'The public page of a collection, for anyone with the link.' },
  { name: 'Artifacts', description: 'Outputs of a collection: images, clips and cards; added, painted, produced or uploaded.' },
  { name: 'Agents', description: 'The registry of agents and its public catalog.' },
  { name: 'Sessions', description: 'Agents launched into rooms, billed per launch.' },
  { name: 'Credits', description: 'Wallets, license keys, blind tokens, coupons and checkout. Amounts are whole credits.' },
  { name: 'Infra', description: 'Relay credentials.' },
  { name: 'Space', description: 'Asynchronous rooms whose history the operator cannot read.' },
] as const
