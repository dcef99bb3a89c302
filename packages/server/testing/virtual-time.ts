import { syncBuiltinESMExports } from 'node:module'
import { mock } from 'node:test'

/**
 * From now on, a millisecond passes with each turn of the event loop: for timers, `performance.now()` and `Date`. How busy
 * the machine is makes no difference, and a wait takes almost no time. For tests without input and output, which take
 * turns too. Returns a function that ends it.
 */
export function startVirtualTime(): () => void {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() })
  const now = mock.method(performance, 'now', () => Date.now())
  // Also for modules that have imported `setTimeout` by its name.
  syncBuiltinESMExports()
  let turn = setImmediate(pass)
  function pass() {
    mock.timers.tick(1)
    turn = setImmediate(pass)
  }
  return () => {
    clearImmediate(turn)
    now.mock.restore()
    mock.timers.reset()
    syncBuiltinESMExports()
  }
}
