import { creditsInText, minutesInText } from '../agents/amounts.ts'
import type { CatalogAgent } from '../api/platform-api.ts'

/** What it costs, how long it may stay, and what people thought of it. */
export function AgentFacts({ agent: { price_credits, max_minutes, rating } }: { agent: CatalogAgent }) {
  const { average, count } = rating
  return (
    <p class="facts">
      <span>{price_credits === 0 ? 'Free' : creditsInText(price_credits)}</span>
      <span>up to {minutesInText(max_minutes)}</span>
      {average !== null && count > 0 && <Rating stars={average} count={count} />}
    </p>
  )
}

function Rating({ stars, count }: { stars: number; count: number }) {
  const [average, people] = [stars.toLocaleString(undefined, { maximumFractionDigits: 1 }), count.toLocaleString()]
  return (
    <span>
      <span aria-hidden="true">
        ★ {average} ({people})
      </span>
      <span class="unseen">
        rated {average} of 5 by {people}
      </span>
    </span>
  )
}
