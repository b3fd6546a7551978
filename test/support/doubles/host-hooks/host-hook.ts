import { ABSENT, type HostAnswer, type HostCall, type Routes } from "../recording-host.ts";

/** A webhook as stored by its host. */
export interface HostHook {
  readonly id: number;
  /** Fields that the host shows, without the id. */
  fields: Readonly<Record<string, unknown>>;
  /** Never shown. */
  secret: string | undefined;
  /** Status codes of our answers to its deliveries, in order. */
  readonly answers: number[];
}

/** The hooks of one repository on a host, and the routes of its API. */
export interface HostHooks {
  readonly hooks: HostHook[];
  readonly routes: Routes;
  /** The platform's answer to a ping or test. */
  answer: number;
}

interface Wording {
  /** The path of hooks: a pattern without groups. */
  readonly path: string;
  /** The only accepted query of a list. */
  readonly listed: string;
  /** Absent where hooks can't be changed. */
  readonly edit?: "PATCH" | "PUT";
  /** An error for the sent fields. */
  problemOf(body: HostCall["body"], isNew: boolean): HostAnswer | undefined;
  stored(body: HostCall["body"], former?: HostHook): Pick<HostHook, "fields" | "secret">;
  shown(hook: HostHook): object;
}

/** Answers a call about the hook whose id ends the path; 404 for an unknown one. */
export function aboutHook(
  hooks: readonly HostHook[],
  pattern: string,
  answer: (hook: HostHook, call: HostCall) => HostAnswer,
): Routes[number] {
  return [
    new RegExp(`^${pattern}$`),
    (call, [id]) => {
      const found = hooks.find((hook) => String(hook.id) === id);
      return found === undefined ? ABSENT : answer(found, call);
    },
  ];
}

/** The hosts' common routes: hooks are listed, created, changed and deleted. */
export function hookRoutes(
  hooks: HostHook[],
  { path, listed, edit, problemOf, stored, shown }: Wording,
  onMade = (_made: HostHook): unknown => undefined,
): Routes {
  const one = `${path}/(\\d+)`;
  const change = aboutHook(hooks, `${edit} ${one}`, (hook, { body }) => {
    const wrong = problemOf(body, false);
    if (wrong !== undefined) return wrong;
    return { status: 200, body: shown(Object.assign(hook, stored(body, hook))) };
  });
  return [
    [new RegExp(`^GET ${path}\\?${listed}$`), () => ({ status: 200, body: hooks.map(shown) })],
    [
      new RegExp(`^POST ${path}$`),
      ({ body }) => {
        const wrong = problemOf(body, true);
        if (wrong !== undefined) return wrong;
        const made = add(hooks, stored(body));
        onMade(made);
        return { status: 201, body: shown(made) };
      },
    ],
    ...(edit === undefined ? [] : [change]),
    aboutHook(hooks, `DELETE ${one}`, (hook) => {
      hooks.splice(hooks.indexOf(hook), 1);
      return { status: 204 };
    }),
  ];
}

/** An error for fields outside the host's schema. */
export function refusal(body: HostCall["body"], known: readonly string[]): HostAnswer | undefined {
  const unknown = Object.keys(body).filter((field) => !known.includes(field));
  return unknown.length === 0 ? undefined : invalid(`unknown: ${unknown.join(", ")}`);
}

export const invalid = (message: string): HostAnswer => ({ status: 422, body: { message } });

/** Stores a hook; ids are never reused. */
export function add(hooks: HostHook[], hook: Pick<HostHook, "fields" | "secret">): HostHook {
  ids += 1;
  const added = { id: ids, answers: [], ...hook };
  hooks.push(added);
  return added;
}
let ids = 1000;
