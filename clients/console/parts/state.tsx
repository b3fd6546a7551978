/** Colour of a state; its word always stands beside. */
export type Tone = "good" | "busy" | "bad" | "warn" | "rest";

const TONES: Readonly<Record<string, Tone>> = {
  ready: "good",
  healthy: "good",
  met: "good",
  acted: "good",
  active: "good",
  closed: "good",
  ok: "good",
  creating: "busy",
  building: "busy",
  updating: "busy",
  pending: "busy",
  failed: "bad",
  unhealthy: "bad",
  breached: "bad",
  exceeded: "bad",
  unreachable: "bad",
  open: "bad",
  degraded: "warn",
  at_risk: "warn",
  half_open: "warn",
  paused: "warn",
  inactive: "warn",
};

interface StateProps {
  readonly state: string;
  readonly word?: string;
}

/** A state as a word and a coloured dot. */
export function State({ state, word = state.replaceAll("_", " ") }: StateProps) {
  return (
    <span class="state" data-tone={TONES[state] ?? "rest"}>
      {word}
    </span>
  );
}
