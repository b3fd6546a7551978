import type { EphemeralEnvironment, Phase } from "../../../../crds/environment/ephemeral-environment.ts";
import { shownPhase } from "../../../../crds/environment/phase.ts";
import type { EnvironmentQuery, EnvironmentRights } from "../../../ports/facade/environments.ts";

/** In no name, so that no text is found across two of them. */
const SEPARATOR = "\n";

/** The fields that queries use, of some environments: one row each, side by side. Valid until one of them changes. */
export class EnvironmentColumns {
  readonly #environments: readonly EphemeralEnvironment[];
  /** One text, because searching thousands of texts one by one takes longer than all else. */
  readonly #names: string;
  /** Where the name of each row begins, and at last where all end. */
  readonly #starts: readonly number[];
  readonly #phases: readonly Phase[];
  readonly #createdMs: readonly number[];
  readonly #rights: readonly EnvironmentRights[];

  constructor(environments: readonly EphemeralEnvironment[]) {
    const names = environments.map(({ metadata }) => metadata.name + SEPARATOR);
    this.#environments = environments;
    this.#names = names.join("");
    this.#starts = startsOf(names);
    this.#phases = environments.map(shownPhase);
    this.#createdMs = environments.map(({ metadata }) => Date.parse(metadata.creationTimestamp));
    this.#rights = rightsOf(environments);
  }

  /** In the order of the rows. */
  eachMatch(query: EnvironmentQuery, take: (environment: EphemeralEnvironment) => void): void {
    const { search = "" } = query;
    if (search.includes(SEPARATOR)) return;
    for (let row = this.#rowWith(search, 0); row < this.#environments.length; row = this.#rowWith(search, row + 1)) {
      if (this.#fits(row, query)) take(this.#environments[row] as EphemeralEnvironment);
    }
  }

  /** The first row from that one on whose name holds the text. */
  #rowWith(text: string, from: number): number {
    if (text === "") return from;
    const at = this.#names.indexOf(text, this.#starts[from]);
    if (at < 0) return this.#environments.length;
    let row = from;
    while ((this.#starts[row + 1] as number) <= at) row += 1;
    return row;
  }

  #fits(row: number, { isVisible, phase, createdFromMs, createdBeforeMs }: EnvironmentQuery): boolean {
    if (phase !== undefined && this.#phases[row] !== phase) return false;
    const createdMs = this.#createdMs[row] as number;
    if (createdFromMs !== undefined && createdMs < createdFromMs) return false;
    if (createdBeforeMs !== undefined && createdMs >= createdBeforeMs) return false;
    return isVisible(this.#rights[row] as EnvironmentRights);
  }
}

function startsOf(names: readonly string[]): number[] {
  const starts = [0];
  for (const name of names) starts.push((starts.at(-1) as number) + name.length);
  return starts;
}

/** Neighbours that the same people may see share theirs, so that few are looked at. */
function rightsOf(environments: readonly EphemeralEnvironment[]): EnvironmentRights[] {
  const rights: EnvironmentRights[] = [];
  for (const { spec } of environments) {
    const last = rights.at(-1);
    const isSame = last !== undefined && last.owner === spec.owner && last.access === spec.access;
    rights.push(isSame ? last : rightsIn(spec));
  }
  return rights;
}

function rightsIn({ owner, access }: EnvironmentRights): EnvironmentRights {
  return { ...(owner && { owner }), ...(access && { access }) };
}
