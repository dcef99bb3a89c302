/**
 * Runs the function over all inputs, at most `width` at once. The results are in the order of the inputs. The first
 * error ends it.
 */
export async function mapConcurrently<In, Out>(
  inputs: readonly In[],
  width: number,
  run: (input: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  let next = 0
  const lane = async () => {
    for (let at = next++; at < inputs.length; at = next++) results[at] = await run(inputs[at]!)
  }
  await Promise.all(Array.from({ length: width }, lane))
  return results
}
