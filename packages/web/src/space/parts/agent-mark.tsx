import { t } from '../text/text.ts'

/** Says in words that a name is an agent's: anyone, person or agent, can be called anything. */
export function AgentMark() {
  return <span class="agent-mark">{t.authors.agent}</span>
}
