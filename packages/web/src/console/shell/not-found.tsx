import { Link } from '../router/router.tsx'

export function NotFound() {
  return (
    <div class="empty">
      <h1>There is no such page</h1>
      <p>The address is wrong, or your role does not open this page.</p>
      <Link class="button" to="/">
        Go to the overview
      </Link>
    </div>
  )
}
