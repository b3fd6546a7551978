import { styleText } from "node:util";
import type { EnvironmentCondition, EnvironmentReport } from "../../sdk/index.ts";
import { plainLine } from "./plain.ts";
import { spanOf } from "./times.ts";

const MARKS = { True: ["green", "✓"], False: ["red", "✗"], Unknown: ["dim", "·"] } as const;

/** Summary of the steps: `status` says the same. */
const SUM = "Ready";
/** Line length where the terminal states no width. */
const WIDTH = 80;

/**
 * Shows the progress of each step: redrawn on a terminal, a line for each change elsewhere, so that the log of a
 * pipeline stays readable.
 */
export function progressOn(stream: NodeJS.WriteStream): (report: EnvironmentReport) => void {
  return stream.isTTY ? redrawn(stream) : inLines(stream);
}

const stepsOf = ({ conditions }: EnvironmentReport) => conditions.filter(({ type }) => type !== SUM);

function redrawn(stream: NodeJS.WriteStream) {
  let drawn = 0;
  return (report: EnvironmentReport) => {
    const lines = [
      `${plainLine(report.name)} is ${report.status}`,
      ...stepsOf(report).map((step) => stepLine(step, stream)),
    ];
    const back = drawn > 0 ? `\u001b[${drawn}A` : "";
    stream.write(`${back}${lines.map((line) => `\u001b[2K${line}\n`).join("")}\u001b[0J`);
    drawn = lines.length;
  };
}

/** Line of a step: a longer one would wrap, and the next drawing would miss it. */
export function stepLine({ type, status, reason, message }: EnvironmentCondition, stream: NodeJS.WriteStream): string {
  const [colour, mark] = MARKS[status];
  const text = `${plainLine(type).padEnd(20)} ${status === "True" ? "" : plainLine(message || reason)}`.trimEnd();
  const room = (stream.isTTY ? stream.columns || WIDTH : Number.POSITIVE_INFINITY) - 3;
  const cut = text.length > room ? `${text.slice(0, room - 1)}…` : text;
  return `${styleText(colour, mark, { stream })} ${cut}`;
}

function inLines(stream: NodeJS.WriteStream) {
  const reported = new Map<string, string>();
  const beganMs = Date.now();
  const tell = (what: string, state: string, text: string) => {
    if (reported.get(what) === state) return;
    reported.set(what, state);
    stream.write(`${spanOf(Date.now() - beganMs).padStart(4)}  ${text}\n`);
  };
  return (report: EnvironmentReport) => {
    for (const { type, status, reason, message } of stepsOf(report)) {
      if (status === "Unknown") continue;
      const text = status === "True" ? "done" : plainLine(message || reason);
      tell(type, `${status} ${reason}`, `${plainLine(type)}: ${text}`);
    }
    tell("", report.status, `${plainLine(report.name)} is ${report.status}`);
  };
}
