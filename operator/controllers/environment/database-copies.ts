import { mayCopyDatabase, pendingCopySource } from "../../../crds/environment/database-copy.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { DesiredObject } from "../../ports/cluster.ts";
import { copiesPolicyObject, copyPolicyObject } from "./desired/database-copy.ts";

/** The environments that copies of databases come from and go to. */
export interface CopySources {
  /** The environment as the cache has it, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  /** Environments whose databases are still to be copied from that one's, by its name. */
  readonly copiesOf: (name: string) => readonly EphemeralEnvironment[];
}

/** The environment that this one's database may be copied from now; `undefined` where it is not to be, or may not. */
export function openSource(
  environment: EphemeralEnvironment,
  { environment: find }: Pick<CopySources, "environment">,
): EphemeralEnvironment | undefined {
  const name = pendingCopySource(environment);
  const source = name === undefined ? undefined : find(name);
  return source !== undefined && mayCopyDatabase(environment.spec, source.spec) ? source : undefined;
}

/** Environments that may copy this one's database now. */
export function openCopies(
  { metadata, spec }: EphemeralEnvironment,
  { copiesOf }: Pick<CopySources, "copiesOf">,
): readonly EphemeralEnvironment[] {
  return copiesOf(metadata.name).filter((copy) => mayCopyDatabase(copy.spec, spec));
}

/** Network policies for the copies that go on, from and to this environment's database: for each pair, and for its time. */
export function copyPolicies(environment: EphemeralEnvironment, sources: CopySources): readonly DesiredObject[] {
  const source = openSource(environment, sources);
  const copies = openCopies(environment, sources);
  return [
    ...(source === undefined ? [] : [copyPolicyObject(environment, source)]),
    ...(copies.length === 0 ? [] : [copiesPolicyObject(environment, copies)]),
  ];
}
