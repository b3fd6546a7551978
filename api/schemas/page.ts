/** Pages of the generic groups: `{items, total, limit, offset}`. */
import { type Static, type TSchema, Type } from "typebox";
import { closed } from "../../crds/schema.ts";

export const DEFAULT_LIMIT = 50;

/** Requested page; a limit above the maximum is refused, never cut. */
export const PAGE = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: DEFAULT_LIMIT,
      description: "Size of the page; default 50, maximum 100.",
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      default: 0,
      description: "Number of results to skip; default 0.",
    }),
  ),
};
export const PageQuery = closed(PAGE);
export type PageQuery = Static<typeof PageQuery>;

/** Page of these items; `total` counts all pages, for this caller. */
export const pageOf = <T extends TSchema>(item: T, options: object) =>
  closed(
    {
      items: Type.Array(item),
      total: Type.Integer({ description: "Number of items on all pages." }),
      limit: Type.Integer({ examples: [DEFAULT_LIMIT] }),
      offset: Type.Integer({ examples: [0] }),
    },
    options,
  );

/** Requested part of a sorted list, each item by `view`. */
export function toPage<T, V>(
  sorted: readonly T[],
  { limit = DEFAULT_LIMIT, offset = 0 }: PageQuery,
  view: (item: T) => V,
) {
  return { items: sorted.slice(offset, offset + limit).map(view), total: sorted.length, limit, offset };
}

interface Named {
  readonly metadata: { readonly name: string };
}

/** Order of lists: by name, letter by letter. */
export const byName = ({ metadata: one }: Named, { metadata: other }: Named) => (one.name < other.name ? -1 : 1);
