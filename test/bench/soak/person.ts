import { PlatformError } from "../../../clients/sdk/index.ts";
import { FAR_HOURS } from "../../../e2e/support/far-hours.ts";
import { insisted } from "./insisted.ts";
import type { Left } from "./ledger.ts";
import type { Site } from "./site.ts";
import { visit } from "./visit.ts";

/** Environments that a person has at a time. */
const MOST = 2;
/** No environment expires during a soak. */
const TTL_HOURS = { first: 48, extended: 72 } as const;

interface Owned {
  readonly name: string;
  readonly left: Left;
}

/** One who uses the platform. */
interface Person {
  readonly site: Site;
  /** Part of the names of the person's environments. */
  readonly mark: string;
  readonly random: () => number;
  readonly own: Owned[];
  made: number;
}

type Deed = (person: Person) => Promise<unknown>;

/** Deeds that follow one another by chance, by their weights. */
const DEEDS: readonly (readonly [weight: number, deed: Deed])[] = [
  [3, create],
  [4, read],
  [1, extend],
  [1, (person) => suspend(person, true)],
  [2, (person) => suspend(person, false)],
  [2, push],
  [1, sleep],
  [2, open],
  [1, remove],
];

/** A person: each call does one thing, drawn by chance. */
export function createPerson(site: Site, mark: string, random: () => number): () => Promise<void> {
  const person: Person = { site, mark, random, own: [], made: 0 };
  const deeds = DEEDS.flatMap(([weight, deed]) => Array<Deed>(weight).fill(deed));
  return async () => {
    const deed = person.own.length === 0 ? create : one(deeds, random);
    await deed(person);
  };
}

const one = <T>(list: readonly T[], random: () => number) => list[Math.floor(random() * list.length)] as T;
const pathOf = (name: string) => ({ path: { environment_id: name } });

async function create(person: Person): Promise<void> {
  const { site, mark, random, own } = person;
  if (own.length >= MOST) return read(person);
  const { ledger, platform, commits, repository } = site;
  const name = `${repository}-${mark}-${person.made++}`;
  const left = { commit: one(commits, random), ttlHours: TTL_HOURS.first, isSuspended: false };
  const backend = { backend_repo: "sample-backend", backend_branch: "main", backend_commit: left.commit };
  const body = { environment_name: name, ...backend, ttl: left.ttlHours };
  await ledger.note(
    `creation of ${name}`,
    () => insisted(() => platform.call("POST /api/v2/environments", { body, idempotencyKey: name })),
    () => {
      ledger.environments.set(name, left);
      own.push({ name, left });
    },
  );
}

/** Changes one of the person's environments. */
async function change(
  { site, random, own }: Person,
  what: string,
  { changed, ask }: { readonly changed: Partial<Left>; readonly ask: (name: string) => Promise<unknown> },
): Promise<void> {
  const index = Math.floor(random() * own.length);
  const { name, left } = own[index] as Owned;
  await site.ledger.note(
    `${what} of ${name}`,
    () => insisted(() => ask(name)),
    () => {
      own[index] = { name, left: { ...left, ...changed } };
      site.ledger.environments.set(name, { ...left, ...changed });
    },
  );
}

function extend(person: Person): Promise<void> {
  const body = { ttl_hours: TTL_HOURS.extended };
  const ask = (name: string) =>
    person.site.platform.call("PUT /api/v2/environments/{environment_id}", { ...pathOf(name), body });
  return change(person, "extension", { changed: { ttlHours: TTL_HOURS.extended }, ask });
}

function update(person: Person, what: string, changed: Partial<Left>, body: object): Promise<void> {
  const ask = (name: string) =>
    person.site.platform.call("PATCH /api/v2/environments/{environment_id}", { ...pathOf(name), body });
  return change(person, what, { changed, ask });
}

const suspend = (person: Person, isSuspended: boolean) =>
  update(person, isSuspended ? "suspension" : "resumption", { isSuspended }, { suspended: isSuspended });

function push(person: Person): Promise<void> {
  const commit = one(person.site.commits, person.random);
  return update(person, "push", { commit }, { backend_commit: commit });
}

/** Lets it fall asleep at once; the next visit wakes it. */
function sleep(person: Person): Promise<void> {
  return update(person, "sleep", {}, { sleep: FAR_HOURS });
}

async function open({ site, random, own }: Person): Promise<void> {
  const { name } = one(own, random);
  await site.ledger.note(`a visit of ${name}`, () => visit(name));
}

async function remove({ site, random, own }: Person): Promise<void> {
  const [chosen] = own.splice(Math.floor(random() * own.length), 1);
  if (chosen === undefined) return;
  const { name } = chosen;
  const route = "DELETE /api/v2/environments/{environment_id}";
  await site.ledger.note(
    `deletion of ${name}`,
    () => insisted(() => site.platform.call(route, pathOf(name)).catch(unless(404))),
    () => site.ledger.environments.set(name, undefined),
  );
}

async function read({ site, random, own }: Person): Promise<void> {
  const { ledger, platform } = site;
  const { name } = one(own, random);
  const path = { environment_id: name, component: "backend" as const };
  const reads: readonly (() => Promise<unknown>)[] = [
    () => platform.call("GET /api/v2/environments", { query: { limit: 50 } }),
    () => platform.call("GET /api/v2/environments/{environment_id}", pathOf(name)),
    () => platform.call("GET /api/v2/observability/costs/summary"),
    () => platform.call("GET /api/v2/insights/dashboard"),
    // It may have no pod now.
    () => platform.call("GET /api/v2/environments/{environment_id}/logs/{component}", { path }).catch(unless(404, 409)),
  ];
  const ask = one(reads, random);
  await ledger.note(`a read about ${name}`, () => insisted(ask));
}

/** Takes refusals with these statuses for an answer. */
const unless =
  (...statuses: readonly number[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof PlatformError) || !statuses.includes(error.status)) throw error;
  };
