/** Period of a screen. */
export type Window = "24h" | "7d" | "30d";

const WINDOWS: readonly (readonly [Window, string])[] = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
];

interface PeriodChoiceProps {
  readonly value: Window;
  readonly choose: (window: Window) => void;
}

export function PeriodChoice({ value, choose }: PeriodChoiceProps) {
  return (
    <select aria-label="Time" value={value} onChange={({ currentTarget }) => choose(currentTarget.value as Window)}>
      {WINDOWS.map(([window, name]) => (
        <option key={window} value={window}>
          Last {name}
        </option>
      ))}
    </select>
  );
}
