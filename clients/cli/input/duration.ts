import { misuse } from "../failure.ts";

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
type Unit = keyof typeof SECONDS;

/**
 * Seconds of `90s`, `5m`, `1.5h` or `2d`; a number alone is in the given unit. @throws Failure (misuse) for another
 * text
 */
export function secondsOf(text: string, unit: Unit = "s"): number {
  const [, number, named] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(text) ?? [];
  if (number === undefined) throw misuse(`'${text}' is no duration such as 30m, 8h or 2d`);
  return Number(number) * SECONDS[(named as Unit | undefined) ?? unit];
}

/** Hours of `8`, `8h` or `2d`. @throws Failure (misuse) for another text, and for parts of an hour */
export function hoursOf(text: string): number {
  const hours = secondsOf(text, "h") / SECONDS.h;
  if (!Number.isInteger(hours) || hours < 1) throw misuse(`'${text}' is not a number of hours such as 8h or 2d`);
  return hours;
}
