import type { CatalogAgent } from '../api/platform-api.ts'
import { decimal, number } from '../text/format.ts'
import { t } from '../text/text.ts'

/** The agent's price, its longest stay, and its rating. */
export function AgentFacts({ agent: { price_credits, max_minutes, rating } }: { agent: CatalogAgent }) {
  const { average, count } = rating
  return (
    <p class="facts">
      <span>{price_credits === 0 ? t.agents.free : t.agents.price(price_credits)}</span>
      <span>{t.agents.upTo(max_minutes)}</span>
      {average !== null && count > 0 && <Rating stars={average} count={count} />}
    </p>
  )
}

function Rating({ stars, count }: { stars: number; count: number }) {
  const average = decimal(stars)
  return (
    <span>
      <span aria-hidden="true">
        ★ {average} ({number(count)})
      </span>
      <span class="visually-hidden">{t.agents.rated(average, count)}</span>
    </span>
  )
}
