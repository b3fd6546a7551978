import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ChangedEnvironment, ListedEnvironmentReport, Operations } from "../../sdk/index.ts";
import { platform } from "../platform/client.ts";
import { keepFollowing, type Listener, type StreamState } from "../platform/following.ts";
import { user } from "../platform/user.ts";
import { addressOf, afterChange, type ListPage, type ListQuery, PAGE_SIZE } from "./page-of-list.ts";

type Status = NonNullable<NonNullable<Operations["GET /api/v2/environments"]["query"]>["status"]>;

/** Current page; `undefined` until it is known. */
export const page = signal<ListPage | undefined>(undefined);
export const listError = signal<unknown>(undefined);
export const listStream = signal<StreamState>("connecting");

/** Debounce of reloads: changes come in bursts, and each burst reloads the page once. */
const RELOAD_AFTER_MS = 400;
const MOST_PER_CALL = 100;
/** Limit of the environments searched for the reader's own: the platform can't filter by creator. */
export const LOOKED_THROUGH = 1_000;

/** Keeps the query's page up to date. */
export function useList(query: ListQuery): void {
  const held = useRef<Holder>(null);
  useEffect(() => {
    const holder = new Holder();
    held.current = holder;
    const stop = keepFollowing("GET /api/v2/watch/environments", {}, holder);
    return () => {
      stop();
      holder.stop();
    };
  }, []);
  useEffect(() => held.current?.show(query), [addressOf(query), user.value?.email]);
}

/** Loads the page for a new query, at the begin of the stream, and after a change that moves its rows. */
class Holder implements Listener<"GET /api/v2/watch/environments"> {
  #query: ListQuery | undefined;
  #request = new AbortController();
  #soon: ReturnType<typeof setTimeout> | undefined;

  show(query: ListQuery): void {
    this.#query = query;
    page.value = undefined;
    void this.#load();
  }

  state(state: StreamState): void {
    listStream.value = state;
  }

  event(change: ChangedEnvironment): void {
    if (this.#query === undefined) return;
    // The stream does not report earlier changes.
    if (change.type === "opened") return void this.#load();
    if (page.value === undefined) return;
    const after = afterChange(page.value, change, this.#query);
    page.value = after.page;
    if (after.isStale) this.#soon ??= setTimeout(() => void this.#load(), RELOAD_AFTER_MS);
  }

  stop(): void {
    clearTimeout(this.#soon);
    this.#request.abort();
  }

  async #load(): Promise<void> {
    this.stop();
    this.#soon = undefined;
    this.#request = new AbortController();
    const { signal: current } = this.#request;
    const query = this.#query as ListQuery;
    try {
      const found = await (query.isMine ? mine(query, current) : onePage(query, query.offset, PAGE_SIZE, current));
      if (current.aborted) return;
      page.value = found;
      listError.value = undefined;
    } catch (error) {
      if (!current.aborted) listError.value = error;
    }
  }
}

async function onePage(
  { search, status }: ListQuery,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<ListPage> {
  const chosen = { ...(search && { search }), ...(status && { status: status as Status }) };
  return platform.call("GET /api/v2/environments", { query: { ...chosen, limit, offset }, signal });
}

/** The reader's own, of the first thousand. */
async function mine(query: ListQuery, signal: AbortSignal): Promise<ListPage> {
  const email = user.value?.email;
  // Owners are known by a verified e-mail address alone.
  if (!email) return { environments: [], total: 0 };
  const own: ListedEnvironmentReport[] = [];
  for (let offset = 0; offset < LOOKED_THROUGH; offset += MOST_PER_CALL) {
    const { environments, total } = await onePage(query, offset, MOST_PER_CALL, signal);
    own.push(...environments.filter(({ creator }) => creator.email === email));
    if (offset + environments.length >= total || environments.length === 0) break;
  }
  return { environments: own.slice(query.offset, query.offset + PAGE_SIZE), total: own.length };
}
