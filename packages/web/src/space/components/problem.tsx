/** What is wrong in a form. `id`: for describedBy, where it is about one field. */
export function Problem({ id, text }: { id?: string; text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p class="problem" role="alert" {...(id !== undefined && { id })}>
      {text}
    </p>
  )
}

/**
 * The attributes of a field with a hint. A screen reader reads out the problem first, as long as the field is wrong.
 */
export function describedBy(hintId: string | undefined, problemId: string, isWrong: boolean) {
  const ids = [...(isWrong ? [problemId] : []), ...(hintId === undefined ? [] : [hintId])]
  return { 'aria-invalid': isWrong, ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }) }
}
