/** Grey lines in place of what is being loaded. They appear only after a moment, so that fast answers do not flicker. */
export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} class="loading-line" />
      ))}
    </div>
  )
}
