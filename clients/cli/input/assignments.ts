import { misuse } from "../failure.ts";

type Fields = Record<string, unknown>;

/**
 * Sets values at paths: `backend.env.LOG_LEVEL=debug` becomes `{ backend: { env: { LOG_LEVEL: "debug" } } }`. Below
 * `env` everything is text; elsewhere numbers, `true` and `false` are recognised.
 *
 * @param base stays unchanged
 * @throws Failure (misuse) for an invalid assignment
 */
export function withAssignments(base: unknown, assignments: readonly string[]): Fields {
  const result = structuredClone((base ?? {}) as Fields);
  for (const assignment of assignments) {
    const { path, value } = parsed(assignment);
    let place: Fields = result;
    for (const name of path.slice(0, -1)) place = fieldsAt(place, name, assignment);
    place[path.at(-1) as string] = value;
  }
  return result;
}

// A key of this name would change the result's prototype.
const isName = (name: string) => name !== "" && name !== "__proto__";

function parsed(assignment: string) {
  const [, target = "", text = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  const path = target.split(".");
  const isAbout = path[0] === "backend" || path[0] === "frontend";
  if (!isAbout || path.length < 2 || !path.every(isName)) {
    throw misuse(`'${assignment}' is not of the form backend.env.NAME=value or frontend.replicas=2`);
  }
  return { path, value: path[1] === "env" ? text : scalar(text) };
}

function fieldsAt(place: Fields, name: string, assignment: string): Fields {
  const found = Object.hasOwn(place, name) ? place[name] : undefined;
  if (found !== undefined && (typeof found !== "object" || found === null || Array.isArray(found))) {
    throw misuse(`'${assignment}': ${name} is a value already`);
  }
  const fields = (found ?? {}) as Fields;
  place[name] = fields;
  return fields;
}

function scalar(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$/.test(text) ? Number(text) : text;
}
