/**
 * How many of `length` places come before something, when `isBefore` holds of the first ones and of none after them: a
 * binary search.
 */
export function partitionPoint(length: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
