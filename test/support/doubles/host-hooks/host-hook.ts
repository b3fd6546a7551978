import { ABSENT, type HostAnswer, type HostCall, type Routes } from "../recording-host.ts";

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

/** How one kind of host speaks of hooks. */
interface Wording {
  /** Where they are: a pattern without groups. */
  readonly path: string;
  /** The only query that a list is asked with. */
  readonly listed: string;
  /** Left out where no hook is changed. */
  readonly edit?: "PATCH" | "PUT";
  /** The refusal of what was sent. */
  problemOf(body: HostCall["body"], isNew: boolean): HostAnswer | undefined;
  stored(body: HostCall["body"], former?: HostHook): Pick<HostHook, "fields" | "secret">;
  shown(hook: HostHook): object;
}

/** A call about the hook with the id that its path ends with; 404 when there is none. */
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

/** What hosts have in common: hooks are listed, made, changed and deleted. */
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
