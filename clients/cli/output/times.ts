const UNITS = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "m", ms: 60_000 },
  { name: "s", ms: 1_000 },
] as const;

/** Duration in its two largest units: `2d3h`, `45s`. */
export function spanOf(ms: number): string {
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  const parts = UNITS.slice(first === -1 ? UNITS.length - 1 : first).slice(0, 2);
  let rest = Math.max(0, ms);
  const words = parts.map((unit) => {
    const count = Math.floor(rest / unit.ms);
    rest -= count * unit.ms;
    return { count, text: `${count}${unit.name}` };
  });
  return words
    .filter(({ count }, index) => index === 0 || count > 0)
    .map(({ text }) => text)
    .join("");
}

/** Time between a moment and now. */
export const spanTo = (moment: string, now = Date.now()): string => spanOf(Math.abs(Date.parse(moment) - now));
