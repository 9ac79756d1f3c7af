/** Counts how many of 0, 1, … pass the test, by binary search. REQUIRES: none passes after one that fails. */
export function countWhile(count: number, test: (i: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (test(middle)) low = middle + 1
    else high = middle
  }
  return low
}
