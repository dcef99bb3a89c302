type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** What is wrong with the fields of a form, by their ids. */
export function findProblems(form: HTMLFormElement): ReadonlyMap<string, string> {
  const controls = [...form.elements].filter(isControl)
  return new Map(
    controls
      .filter(({ willValidate, validity }) => willValidate && !validity.valid)
      .map((control) => [control.id, problemOf(control)]),
  )
}

function isControl(element: Element): element is Control {
  return /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName)
}

const kinds: Partial<Record<string, string>> = {
  email: 'This is not an e-mail address.',
  url: 'This is not a web address. One begins with https:// or http://.',
  number: 'This is not a number.',
}

/** In the words of the console: those of the browser are in its own language. */
function problemOf(control: Control): string {
  const { validity, title, type } = control
  const limit = (name: 'min' | 'max') => control.getAttribute(name) ?? ''
  // The page knows more about the value than the browser does.
  if (validity.customError) return control.validationMessage
  if (validity.badInput) return kinds[type] ?? 'This is not a date.'
  if (validity.valueMissing) return type === 'select-one' ? 'Choose one.' : 'Fill in this field.'
  if (validity.typeMismatch) return kinds[type] ?? 'This is not valid.'
  if (validity.patternMismatch) return title === '' ? 'This is not valid.' : `${title}.`
  if (validity.rangeUnderflow) return `The minimum is ${limit('min')}.`
  if (validity.rangeOverflow) return `The maximum is ${limit('max')}.`
  if (validity.stepMismatch) return 'This must be a whole number.'
  return control.validationMessage
}
