import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

const MAX_STEPS = 120

/** What has the focus, as a screen reader names it, and whether its ring can be seen. */
const FOCUSED = `(() => {
  const element = document.activeElement
  const labels = [...(element.labels ?? [])].map((label) => label.textContent).join(' ')
  const name = element.getAttribute('aria-label') ?? (labels || element.textContent)
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { top, bottom, width } = element.getBoundingClientRect()
  return {
    tag: element.tagName.toLowerCase(),
    name: name.replace(/\\s+/g, ' ').trim(),
    isRinged: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1,
    isInView: bottom > 0 && top < innerHeight && width > 0,
  }
})()`

interface Focused {
  tag: string
  name: string
  isRinged: boolean
  isInView: boolean
}

/** Somebody who has no mouse: presses keys, and looks where the focus is. */
export class KeyboardUser {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  focused(): Promise<Focused> {
    return this.page.evaluate<Focused>(FOCUSED)
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key)
  }

  type(text: string): Promise<void> {
    return this.page.keyboard.insertText(text)
  }

  /** Presses Tab until the control with this name has the focus. On the way, the focus can always be seen. */
  async reach(name: string | RegExp, step: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const passed: string[] = []
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      await this.press(step)
      const at = await this.focused()
      passed.push(at.name)
      // Past the last control, the browser's own controls follow. A new page takes the focus as a whole, without a ring.
      if (at.tag === 'body' || at.tag === 'main') continue
      assert.ok(at.isRinged && at.isInView, `the focus on "${at.name}" (${at.tag}) cannot be seen`)
      if (typeof name === 'string' ? at.name === name : name.test(at.name)) return
    }
    assert.fail(`no control is called ${name}; passed: ${passed.join(' | ')}`)
  }

  async choose(name: string | RegExp): Promise<void> {
    await this.reach(name)
    await this.press('Enter')
  }

  /** Waits until the focus is there. */
  async isAt(name: string | RegExp): Promise<void> {
    const isThere = async () => {
      const at = await this.focused()
      return typeof name === 'string' ? at.name === name : name.test(at.name)
    }
    for (let tries = 0; tries < 300; tries++) {
      if (await isThere()) return
      await this.page.waitForTimeout(50)
    }
    assert.fail(`the focus is at ${JSON.stringify(await this.focused())}, not at ${name}`)
  }

  /** Waits until no dialog is open, and the focus is somewhere in the page. */
  async isBackInPage(): Promise<void> {
    await this.page.locator('dialog').first().waitFor({ state: 'detached' })
    for (let tries = 0; tries < 300; tries++) {
      if (await this.page.evaluate<boolean>(`document.querySelector('main').contains(document.activeElement)`)) return
      await this.page.waitForTimeout(50)
    }
    assert.fail(`the focus is lost: ${JSON.stringify(await this.focused())}`)
  }

  /** Confirms that what a dialog shows once is stored. Returns the first secret. */
  async store(): Promise<string> {
    const secret = this.page.locator('.secret code').first()
    await secret.waitFor()
    await this.isAt('Copy')
    const text = (await secret.textContent()) ?? ''
    await this.reach(/^I have (?:stored|copied) it/)
    await this.press('Space')
    await this.choose('Done')
    await this.page.locator('.secret').first().waitFor({ state: 'detached' })
    return text
  }

  /** Goes ahead after a question, which begins at the way back. */
  async confirm(action: string): Promise<void> {
    await this.page.getByRole('dialog').getByRole('button', { name: action, exact: true }).waitFor()
    await this.isAt('Cancel')
    await this.choose(action)
  }
}
