import { findCondition } from "../../../crds/conditions.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { Reload } from "../../ports/facade/repository-reloads.ts";

/** Version of each Repository when it was last ready, by name: changes with its spec. */
export type Marks = Readonly<Record<string, string>>;

/**
 * Compares the Repositories with the last reload. An unready one keeps its former version, so a later reload shows its
 * changes. Answers the reload, and the versions for the next one.
 *
 * @param isChecked true when it was checked since the reload was requested
 */
export function compared(
  repositories: readonly Repository[],
  former: Marks,
  isChecked: (repository: Repository) => boolean,
): { readonly reload: Reload; readonly marks: Marks } {
  const errors = repositories.flatMap((repository) => {
    const message = isChecked(repository) ? problemOf(repository) : "was not checked in time: try again";
    return message === undefined ? [] : [{ name: repository.metadata.name, message }];
  });
  const ill = new Set(errors.map(({ name }) => name));
  const well = repositories.filter(({ metadata }) => !ill.has(metadata.name));
  const before = new Map(Object.entries(former));
  const added = well.filter(({ metadata }) => !before.has(metadata.name));
  const updated = well.filter(
    (repository) => (before.get(repository.metadata.name) ?? markOf(repository)) !== markOf(repository),
  );
  const registered = new Set(repositories.map(({ metadata }) => metadata.name));
  const kept = [...before].filter(([name]) => ill.has(name));
  return {
    reload: {
      loaded: well.length,
      added: names(added),
      updated: names(updated),
      removed: [...before.keys()].filter((name) => !registered.has(name)).sort(),
      errors: errors.sort((one, other) => (one.name < other.name ? -1 : 1)),
    },
    marks: Object.fromEntries([...kept, ...well.map((repository) => [repository.metadata.name, markOf(repository)])]),
  };
}

const markOf = ({ metadata }: Repository) => `${metadata.uid}/${metadata.generation}`;
const names = (repositories: readonly Repository[]) => repositories.map(({ metadata }) => metadata.name).sort();

function problemOf({ status }: Repository): string | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  return ready?.status === "True" ? undefined : (ready?.message ?? "was never checked");
}
