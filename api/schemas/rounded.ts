/** The figure with so many decimals; one that does not exist stays so. */
export function rounded<N extends number | null>(value: N, digits: number): N {
  return (value === null ? null : Number(value.toFixed(digits))) as N;
}
