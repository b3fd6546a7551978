import type { ConfigSet, Repository } from "../../sdk/index.ts";
import { platform } from "./client.ts";

const MOST = 100;
/** Limit of the choices. */
const MOST_PAGES = 5;

async function all<T>(page: (offset: number) => Promise<{ readonly items: readonly T[]; readonly total: number }>) {
  const found: T[] = [];
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const { items, total } = await page(found.length);
    found.push(...items);
    if (items.length === 0 || found.length >= total) break;
  }
  return found;
}

/** Repositories that the reader may use. */
export const repositoryChoices = (signal: AbortSignal): Promise<readonly Repository[]> =>
  all((offset) => platform.call("GET /api/v2/repos", { query: { limit: MOST, offset }, signal }));

/** Config sets that the reader may use. */
export const configSetChoices = (signal: AbortSignal): Promise<readonly ConfigSet[]> =>
  all((offset) => platform.call("GET /api/v2/config-sets", { query: { limit: MOST, offset }, signal }));
