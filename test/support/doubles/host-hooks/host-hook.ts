import type { HostAnswer, HostCall, Routes } from "../recording-host.ts";

/** A webhook, as its host stores it. */
export interface HostHook {
  readonly id: number;
  /** What the host shows, apart from its id. */
  fields: Readonly<Record<string, unknown>>;
  /** Never shown. */
  secret: string | undefined;
  /** The status of our answer to each delivery, the last one at the end. */
  readonly answers: number[];
}

/** The hooks of one repository on a host, and how its API speaks of them. */
export interface HostHooks {
  readonly hooks: HostHook[];
  readonly routes: Routes;
  /** The status that the platform answers a ping or a test with. */
  answer: number;
}

/** A refusal of what the host's schema does not have. */
export function refusal(body: HostCall["body"], known: readonly string[]): HostAnswer | undefined {
  const unknown = Object.keys(body).filter((field) => !known.includes(field));
  return unknown.length === 0 ? undefined : invalid(`unknown: ${unknown.join(", ")}`);
}

export const invalid = (message: string): HostAnswer => ({ status: 422, body: { message } });

/** Stores a hook; ids are never used again. */
export function add(hooks: HostHook[], hook: Pick<HostHook, "fields" | "secret">): HostHook {
  ids += 1;
  const added = { id: ids, answers: [], ...hook };
  hooks.push(added);
  return added;
}
let ids = 1000;

/** Deletes one; false when it is not there. */
export function drop(hooks: HostHook[], id: string | undefined): boolean {
  const at = hooks.findIndex((hook) => String(hook.id) === id);
  if (at >= 0) hooks.splice(at, 1);
  return at >= 0;
}

/** The hook of that id. */
export const find = (hooks: readonly HostHook[], id: string | undefined) =>
  hooks.find((hook) => String(hook.id) === id);
