import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { type Repository, wantedSecrets } from "../../../crds/repository.ts";
import { roleBindingKind, secretKind } from "../../kinds.ts";
import type { StoredSecret } from "../../ports/secret-manager.ts";
import { accessBindingObject, currentVersion, secretName, secretObject } from "../desired/secret.ts";
import { missingRepository, repositoriesOf } from "../repositories.ts";
import { done, type Step, type StepContext } from "../step.ts";

/** The shape of a value that is gone from the secret manager and that no Repository describes any more. */
const UNLISTED = { kind: "password", length: 32 } as const;

/**
 * Gives the environment its generated secrets: made once, kept in the secret manager, mirrored into the namespace.
 *
 * The secret manager is written first. A crash between the two writes then leaves a value the next pass finds and
 * mirrors; the other order could hand a pod a password that nobody recorded.
 */
export const secrets: Step = {
  condition: "SecretsReady",
  after: ["NamespaceReady"],

  async run(environment, context) {
    const { cluster, settings } = context;
    if (await isMirrored(environment, context)) return done("Mirrored");

    const repositories = repositoriesOf(environment, context.repositories);
    const missing = missingRepository(environment, repositories);
    if (missing !== undefined) return missing;
    const [stored] = await Promise.all([
      storedSecrets(environment, Object.values(repositories), context),
      cluster.ensure(environment.metadata, roleBindingKind, accessBindingObject(environment, settings)),
    ]);
    return mirror(environment, stored, context);
  },
};

/** Whether the pods' Secret is there; the right to look comes first, because somebody may have taken it away. */
async function isMirrored(environment: EphemeralEnvironment, { cluster, settings }: StepContext): Promise<boolean> {
  if (environment.status?.secrets === undefined) return false;
  await cluster.ensure(environment.metadata, roleBindingKind, accessBindingObject(environment, settings));
  const ref = {
    name: secretName(currentVersion(environment)),
    namespace: namespaceName(environment.metadata.name),
  };
  return (await cluster.read(environment.metadata, secretKind, ref)) !== undefined;
}

/** The values of what the environment was made with: a variable that a Repository lists later does not reach it. */
function storedSecrets(
  environment: EphemeralEnvironment,
  repositories: readonly Repository[],
  { secretManager, generateSecret }: StepContext,
) {
  const listed = new Map(repositories.flatMap(wantedSecrets).map((secret) => [secret.name, secret]));
  const known = environment.status?.secrets ?? [...listed.keys()].map((name) => ({ name, version: 1 }));
  const requests = known.map(({ name, version }) => ({
    name,
    version,
    generate: () => generateSecret(listed.get(name) ?? { name, ...UNLISTED }),
  }));
  return secretManager.ensure(environment.metadata, requests);
}

async function mirror(
  environment: EphemeralEnvironment,
  stored: ReadonlyMap<string, StoredSecret>,
  { cluster }: StepContext,
) {
  const version = Math.max(1, ...[...stored.values()].map((secret) => secret.version));
  await cluster.ensure(environment.metadata, secretKind, secretObject(environment, version, stored));
  const versions = [...stored].map(([name, secret]) => ({ name, version: secret.version }));
  return done("Mirrored", { findings: { secrets: versions } });
}
