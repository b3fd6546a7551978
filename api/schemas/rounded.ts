/** Figure with so many decimals; null stays null. */
export function rounded<N extends number | null>(value: N, digits: number): N {
  return (value === null ? null : Number(value.toFixed(digits))) as N;
}
