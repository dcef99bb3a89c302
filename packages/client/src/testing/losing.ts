/** A fetch whose first answers are lost. */
export function losing(count: number): typeof fetch {
  let left = count
  return async (url, init) => {
    const res = await fetch(url, init)
    if (left-- <= 0) return res
    await res.arrayBuffer()
    throw new TypeError('the connection was cut')
  }
}
