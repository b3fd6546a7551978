import { DEFAULT_LIMIT, type PageQuery } from "../schemas/page.ts";

/** The wanted part of a list that is in order already. */
export function toPage<T>(all: readonly T[], { limit = DEFAULT_LIMIT, offset = 0 }: PageQuery) {
  return { items: all.slice(offset, offset + limit), total: all.length, limit, offset };
}
