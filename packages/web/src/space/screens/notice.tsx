import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ArchMark } from '../components/arch.tsx'
import { homeHref } from '../service.ts'
import { LanguageChoice } from '../components/language-choice.tsx'

/** A screen with one message in place of a room. */
export function Notice({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  // With the message itself: a focus that moves later would take the next key from the control that has it by then.
  useLayoutEffect(() => {
    document.title = title
    heading.current?.focus()
  }, [title])
  return (
    <div class="page">
      <header class="page-head">
        <a class="home" href={homeHref()}>
          <ArchMark />
          Space
        </a>
      </header>
      <main class="notice">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
      <footer class="page-foot">
        <LanguageChoice />
      </footer>
    </div>
  )
}
