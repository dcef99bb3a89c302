import { analysts, type MemberRole } from '@atrium/contract/roles'
import type { ConsoleSession } from '../api/session.ts'
import type { IconName } from '../components/icon.tsx'
import { operatorPages } from '../operator/pages.ts'
import { lazyPage, type PageComponent } from './lazy.tsx'

export interface PageSpec {
  /** Below /console; `:name` is a parameter. */
  path: string
  title: string
  component: PageComponent
  /** Absent: a page below the one whose path it begins with. */
  menu?: {
    icon: IconName
    /** The heading above the page in the menu; absent: none. */
    section?: string
    /** The key after g that goes there. */
    key: string
  }
  /** Absent: every role. */
  roles?: readonly MemberRole[]
}

const collection = lazyPage(async () => (await import('../pages/collection/collection.tsx')).CollectionPage)
const credits = lazyPage(async () => (await import('../pages/credits.tsx')).Credits)
const settings = lazyPage(async () => (await import('../pages/settings.tsx')).Settings)

const tenantPages: readonly PageSpec[] = [
  {
    path: '/',
    title: 'Overview',
    menu: { icon: 'overview', key: 'o' },
    component: lazyPage(async () => (await import('../pages/overview.tsx')).Overview),
  },
  {
    path: '/collections',
    title: 'Collections',
    menu: { icon: 'collections', section: 'Content', key: 'c' },
    component: lazyPage(async () => (await import('../pages/collections.tsx')).Collections),
  },
  { path: '/collections/:id', title: 'Collection', component: collection },
  { path: '/collections/:id/artifacts', title: 'Collection', component: collection },
  { path: '/collections/:id/preview', title: 'Collection', component: collection },
  { path: '/collections/:id/settings', title: 'Collection', component: collection },
  {
    path: '/agents',
    title: 'Agents',
    menu: { icon: 'agents', section: 'Content', key: 'a' },
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/agents.tsx')).Agents),
  },
  {
    path: '/agents/:id',
    title: 'Agent',
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/agent.tsx')).AgentPage),
  },
  {
    path: '/agent-sessions',
    title: 'Sessions',
    menu: { icon: 'sessions', section: 'Content', key: 's' },
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/agent-sessions.tsx')).AgentSessions),
  },
  {
    path: '/credits',
    title: 'Credits',
    menu: { icon: 'credits', section: 'Money', key: 'm' },
    roles: analysts,
    component: credits,
  },
  { path: '/credits/checkouts', title: 'Credits', roles: analysts, component: credits },
  { path: '/credits/epochs', title: 'Credits', roles: analysts, component: credits },
  {
    path: '/usage',
    title: 'Usage',
    menu: { icon: 'usage', section: 'Money', key: 'u' },
    component: lazyPage(async () => (await import('../pages/usage.tsx')).UsagePage),
  },
  {
    path: '/keys',
    title: 'Keys',
    menu: { icon: 'keys', section: 'Developers', key: 'k' },
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/keys.tsx')).KeysPage),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    menu: { icon: 'webhooks', section: 'Developers', key: 'w' },
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/webhooks.tsx')).Webhooks),
  },
  {
    path: '/webhooks/:id',
    title: 'Webhook endpoint',
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/webhook.tsx')).WebhookPage),
  },
  {
    path: '/events',
    title: 'Events',
    menu: { icon: 'events', section: 'Developers', key: 'e' },
    component: lazyPage(async () => (await import('../pages/events.tsx')).Events),
  },
  {
    path: '/logs',
    title: 'Logs',
    menu: { icon: 'logs', section: 'Developers', key: 'l' },
    roles: analysts,
    component: lazyPage(async () => (await import('../pages/logs.tsx')).Logs),
  },
  {
    path: '/settings',
    title: 'Settings',
    menu: { icon: 'settings', section: 'Tenant', key: 't' },
    component: settings,
  },
  { path: '/settings/members', title: 'Settings', component: settings },
  { path: '/settings/sessions', title: 'Settings', component: settings },
  { path: '/settings/audit-log', title: 'Settings', roles: analysts, component: settings },
]

/** The pages that the session may open. */
export function pagesOf({ kind, role }: ConsoleSession): readonly PageSpec[] {
  if (kind === 'operator') return operatorPages
  return tenantPages.filter(({ roles }) => !roles || (role !== null && roles.includes(role)))
}
