export type Role = 'app' | 'issuer'

/** The roles a tenant holds, given those recorded. */
export function rolesHeld(recorded: Role[] | null): Role[] {
  return recorded && recorded.length > 0 ? recorded : ['app', 'issuer']
}
