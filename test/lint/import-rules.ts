import { dirname, join, normalize } from "node:path";
import type { Zone } from "./zones.ts";

/** One import of a file; paths from the root. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}

const STATEMENT = /^(?:import|export)\s+(type\s)?([^;"']*?)\sfrom\s+["'](\.[^"']+)["']/gm;
const BARE = /(?:^import|\bimport\s*\()\s*["'](\.[^"']+)["']/gm;

/** The relative imports and re-exports of a source. @param file its path from the root */
export function importsOf(file: string, source: string): readonly Import[] {
  const target = (path: string) => normalize(join(dirname(file), path));
  const named = [...source.matchAll(STATEMENT)].map(([, type, names = "", path = ""]) => ({
    from: file,
    to: target(path),
    isType: type !== undefined || isOfTypes(names),
  }));
  const bare = [...source.matchAll(BARE)].map(([, path = ""]) => ({ from: file, to: target(path), isType: false }));
  return [...named, ...bare];
}

/** Tells whether every name of `{ type A, type B }` is one of a type. */
function isOfTypes(names: string): boolean {
  const list =
    /^\{([^}]*)\}$/
      .exec(names.trim())?.[1]
      ?.split(",")
      .filter((name) => name.trim() !== "") ?? [];
  return list.length > 0 && list.every((name) => /^\s*type\s/.test(name));
}

/** The imports that no zone allows. */
export function forbidden(imports: readonly Import[], zones: readonly Zone[]): readonly Import[] {
  return imports.filter(({ from, to, isType }) => {
    const place = placeOf(from, zones);
    if (place === undefined) return true;
    const { own, zone } = place;
    const allowed = [own, ...zone.may, ...(isType ? (zone.types ?? []) : [])];
    return isSource(to) && !allowed.some((folder) => isIn(to, folder));
  });
}

const isSource = (path: string) => /\.(ts|tsx|mjs|js)$/.test(path);
const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** The zone of a file, and the folder that is its own. */
function placeOf(file: string, zones: readonly Zone[]): { readonly own: string; readonly zone: Zone } | undefined {
  const places = zones.flatMap((zone) => {
    const own = zone.folder.endsWith("/*") ? folderIn(zone.folder.slice(0, -2), file) : zone.folder;
    return own !== undefined && isIn(file, own) ? [{ own, zone }] : [];
  });
  const isExact = ({ own, zone }: (typeof places)[number]) => Number(own === zone.folder);
  return places.sort((one, other) => other.own.length - one.own.length || isExact(other) - isExact(one))[0];
}

/** The folder directly in `parent` in which the file lies; `undefined` for a file of `parent` itself, and elsewhere. */
function folderIn(parent: string, file: string): string | undefined {
  if (!file.startsWith(`${parent}/`)) return undefined;
  const [name, ...rest] = file.slice(parent.length + 1).split("/");
  return rest.length === 0 ? undefined : `${parent}/${name}`;
}

/** The circles among the folders directly in `parent`: each names its folders, sorted. Files of `parent` itself don't count. */
export function circles(imports: readonly Import[], parent: string): readonly string[] {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [one, other] = [folderIn(parent, from), folderIn(parent, to)];
    if (one === undefined || other === undefined || one === other) continue;
    graph.set(one, (graph.get(one) ?? new Set()).add(other));
  }
  const reach = new Map([...graph.keys()].map((folder) => [folder, reachable(folder, graph)] as const));
  const found = [...reach].flatMap(([folder, reached]) => {
    if (!reached.has(folder)) return [];
    return [
      [...reached]
        .filter((other) => reach.get(other)?.has(folder))
        .sort()
        .join(", "),
    ];
  });
  return [...new Set(found)];
}

function reachable(folder: string, graph: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (const one of open) {
    for (const next of graph.get(one) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}
