import { Store } from '../store.ts'

/** Who is signed in, in this tab. */
export interface Account {
  readonly idToken: string
  readonly email: string
  readonly name: string | undefined
  readonly expiresAtMs: number
}

const KEY = 'atrium.space.account'

/** In session storage: it ends with the tab, and no other site can read it. */
export const accountStore = new Store<{ account: Account | undefined }>({ account: readAccount() })

export function keepAccount(account: Account | undefined): void {
  accountStore.update({ account })
  try {
    if (account) sessionStorage.setItem(KEY, JSON.stringify(account))
    else sessionStorage.removeItem(KEY)
  } catch {
    // Storage is switched off, so the sign-in lasts until the page is closed.
  }
}

function readAccount(): Account | undefined {
  try {
    const text = sessionStorage.getItem(KEY)
    return text ? (JSON.parse(text) as Account) : undefined
  } catch {
    return undefined
  }
}
