import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { EnvironmentQuery } from "../../../ports/facade/environments.ts";
import { EnvironmentColumns } from "./columns.ts";
import { partitionPoint } from "./partition-point.ts";

/** Some environments that follow each other in the order of a list: the newest first, those of the same second by name. */
export class DirectoryBlock {
  readonly #environments: EphemeralEnvironment[];
  /** Made when they are asked for after a change. */
  #columns: EnvironmentColumns | undefined;

  /** @param environments in order */
  constructor(environments: EphemeralEnvironment[]) {
    this.#environments = environments;
  }

  get size(): number {
    return this.#environments.length;
  }

  /** Whether the environment comes before all of the block. */
  beginsAfter(environment: EphemeralEnvironment): boolean {
    const [first] = this.#environments;
    return first !== undefined && inListOrder(environment, first) < 0;
  }

  /** Puts it in its place, instead of another version of it. */
  put(environment: EphemeralEnvironment): void {
    const row = this.#rowFor(environment);
    this.#environments.splice(row, this.#isAt(row, environment) ? 1 : 0, environment);
    this.#columns = undefined;
  }

  /** Removes it, whichever version of it is there. */
  remove(environment: EphemeralEnvironment): void {
    const row = this.#rowFor(environment);
    if (!this.#isAt(row, environment)) return;
    this.#environments.splice(row, 1);
    this.#columns = undefined;
  }

  /** Gives the later half away. */
  split(): DirectoryBlock {
    this.#columns = undefined;
    return new DirectoryBlock(this.#environments.splice(this.size >> 1));
  }

  /** In order. */
  eachMatch(query: EnvironmentQuery, take: (environment: EphemeralEnvironment) => void): void {
    this.#columns ??= new EnvironmentColumns(this.#environments);
    this.#columns.eachMatch(query, take);
  }

  #isAt(row: number, environment: EphemeralEnvironment): boolean {
    const found = this.#environments[row];
    return found !== undefined && inListOrder(found, environment) === 0;
  }

  /** Of the first environment that does not come before this one. */
  #rowFor(environment: EphemeralEnvironment): number {
    const isBefore = (row: number) => inListOrder(this.#environments[row] as EphemeralEnvironment, environment) < 0;
    return partitionPoint(this.size, isBefore);
  }
}

/** The order of a list, for `sort`. All of Kubernetes's timestamps have one form, so that they compare as texts. */
export function inListOrder(
  { metadata: one }: EphemeralEnvironment,
  { metadata: other }: EphemeralEnvironment,
): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
