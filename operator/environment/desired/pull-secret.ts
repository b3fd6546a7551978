import type { PullCredential } from "../../../crds/ephemeral-environment.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { type Component, namespaceName } from "../../../crds/names.ts";
import { DOCKER_HUB, imagePlace, type Repository } from "../../../crds/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { DesiredObject } from "../../ports/cluster.ts";

/** The one Secret that an environment's images are pulled with. Its name never changes, so that other values need no other pods. */
export const PULL_SECRET = "image-pull";

/** For whose images a credential is, in the words of a docker configuration, where it is kept, and whose wish it is. */
export interface PlannedPull extends PullCredential {
  readonly repository: Repository;
}

/** What the environment's images are pulled with; nothing where its Repositories name nothing. */
export function pullPlan(repositories: { readonly [component in Component]?: Repository }): readonly PlannedPull[] {
  const asking = Object.values(repositories).flatMap((repository) => {
    const { imagePullSecretRef: ref } = repository.spec;
    return ref === undefined ? [] : [{ ...imagePlace(repository), source: `${ref.name}@${ref.key}`, repository }];
  });
  const planned = asking.map(({ registry, name, source, repository }) => {
    // Two credentials of one registry are told apart by the images that they are for.
    const isDisputed = asking.some((other) => other.registry === registry && other.source !== source);
    return { registry: isDisputed ? `${registry}/${name}` : registryKey(registry), source, repository };
  });
  return [...new Map(planned.map((pull) => [pull.registry, pull])).values()];
}

/** As the status keeps it. */
export function pullStatus(plan: readonly PlannedPull[]): PullCredential[] {
  return plan.map(({ registry, source }) => ({ registry, source }));
}

/**
 * By this name the kubelet knows Docker Hub; it also finds a credential by the beginning of an image's whole name:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/credentialprovider/keyring.go.
 */
const registryKey = (registry: string) => (registry === DOCKER_HUB ? "https://index.docker.io/v1/" : registry);

/** Immutable, so that an edit is refused: other values are another object of this name. */
export function pullSecretObject(
  { metadata }: EphemeralEnvironment,
  credentials: ReadonlyMap<string, Sensitive>,
): DesiredObject {
  const auths = [...credentials].map(([registry, credential]) => [registry, { auth: base64(credential.reveal()) }]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: PULL_SECRET, namespace: namespaceName(metadata.name) },
    type: "kubernetes.io/dockerconfigjson",
    immutable: true,
    data: { ".dockerconfigjson": base64(JSON.stringify({ auths: Object.fromEntries(auths) })) },
  };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
