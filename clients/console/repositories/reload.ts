import type { RepositoryReload } from "../../sdk/index.ts";

/** Result of a reload, in words. */
export function reloadOutcome({ loaded, added, updated, removed, errors }: RepositoryReload) {
  const changes = [
    ["new", added],
    ["changed", updated],
    ["gone", removed],
  ] as const;
  const named = changes.filter(([, ids]) => ids.length > 0).map(([word, ids]) => `${word}: ${ids.join(", ")}`);
  const count = loaded === 1 ? "1 repository is valid" : `${loaded} repositories are valid`;
  return {
    text: [count, ...named].join("; "),
    problems: errors.map(({ id, message }) => `${id}: ${message}`).join("\n"),
  };
}
