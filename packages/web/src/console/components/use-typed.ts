import { useLayoutEffect, useState } from 'preact/hooks'

/** What somebody types, which becomes the value once they have stopped for a moment. */
export function useTyped(value: string, onChange: (value: string) => void, quietMs: number): [string, (text: string) => void] {
  const [text, setText] = useState(value)
  // A link or a key changed it. Before the next key press: later, both would take text that has been typed by then.
  useLayoutEffect(() => setText(value), [value])
  useLayoutEffect(() => {
    if (text === value) return undefined
    const timer = setTimeout(() => onChange(text), quietMs)
    return () => clearTimeout(timer)
  }, [text])
  return [text, setText]
}
