import type { PageSpec } from '../router/pages.ts'
import { lazyPage } from '../router/lazy.tsx'

/** The pages of an operator's session. */
export const operatorPages: readonly PageSpec[] = [
  {
    path: '/',
    title: 'Overview',
    menu: { icon: 'overview', key: 'o' },
    component: lazyPage(async () => (await import('./overview.tsx')).OperatorOverview),
  },
  {
    path: '/tenants',
    title: 'Tenants',
    menu: { icon: 'tenants', section: 'Access', key: 't' },
    component: lazyPage(async () => (await import('./tenants.tsx')).TenantsPage),
  },
  {
    path: '/tenants/:id',
    title: 'Tenant',
    component: lazyPage(async () => (await import('./tenant.tsx')).TenantPage),
  },
  {
    path: '/invites',
    title: 'Invites',
    menu: { icon: 'person', section: 'Access', key: 'i' },
    component: lazyPage(async () => (await import('./invites.tsx')).InvitesPage),
  },
  {
    path: '/operators',
    title: 'Operators',
    menu: { icon: 'keys', section: 'Access', key: 'c' },
    component: lazyPage(async () => (await import('./credentials.tsx')).CredentialsPage),
  },
  {
    path: '/agents',
    title: 'Agents',
    menu: { icon: 'agents', section: 'Access', key: 'm' },
    component: lazyPage(async () => (await import('./agents.tsx')).OperatorAgentsPage),
  },
  {
    path: '/system',
    title: 'Processes and queues',
    menu: { icon: 'server', section: 'Installation', key: 'p' },
    component: lazyPage(async () => (await import('./system.tsx')).SystemPage),
  },
  {
    path: '/ledger',
    title: 'Ledger',
    menu: { icon: 'credits', section: 'Installation', key: 'l' },
    component: lazyPage(async () => (await import('./ledger.tsx')).LedgerPage),
  },
  {
    path: '/ledger/:id',
    title: 'Audit',
    component: lazyPage(async () => (await import('./ledger.tsx')).AuditPage),
  },
  {
    path: '/space',
    title: 'Space',
    menu: { icon: 'shield', section: 'Installation', key: 's' },
    component: lazyPage(async () => (await import('./space.tsx')).SpacePage),
  },
  {
    path: '/storage',
    title: 'Storage',
    menu: { icon: 'archive', section: 'Installation', key: 'd' },
    component: lazyPage(async () => (await import('./storage.tsx')).StoragePage),
  },
  {
    path: '/versions',
    title: 'Versions',
    menu: { icon: 'settings', section: 'Installation', key: 'v' },
    component: lazyPage(async () => (await import('./versions.tsx')).VersionsPage),
  },
  {
    path: '/audit-log',
    title: 'Audit log',
    menu: { icon: 'logs', section: 'Installation', key: 'a' },
    component: lazyPage(async () => (await import('./audit-log.tsx')).OperatorAuditLogPage),
  },
]
