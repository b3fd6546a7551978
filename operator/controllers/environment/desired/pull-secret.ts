import type { PullCredential } from "../../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { loginsOf } from "../../../../crds/repository/docker-config.ts";
import { DOCKER_HUB, imagePlace, type Repository } from "../../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import { secretKind } from "../../../kit/client/kinds.ts";
import type { DesiredObject } from "../../../ports/cluster.ts";
import type { ComponentRepositories } from "../repositories.ts";
import { inNamespace } from "./namespace.ts";
import { base64 } from "./secret.ts";

/** Secret for pulling an environment's images. Its name is constant, so new values need no new pods. */
export const PULL_SECRET = "image-pull";

/** A credential's registry in the docker configuration, its place, and its Repository. */
export interface PlannedPull extends PullCredential {
  readonly repository: Repository;
}

/** An entry of the Secret; without a credential only the status names it. */
export interface PullEntry extends PullCredential {
  readonly credential?: Sensitive | undefined;
}

const PULLS_MAX = 16;

/**
 * Credentials for pulling the environment's images. Of two for the same image the frontend's wins, because a docker
 * configuration can't distinguish them.
 */
export function pullPlan(repositories: ComponentRepositories): readonly PlannedPull[] {
  const requests = Object.values(repositories).flatMap((repository) => {
    const { imagePullSecretRef: ref } = repository.spec;
    return ref === undefined ? [] : [{ ...imagePlace(repository), source: `${ref.name}@${ref.key}`, repository }];
  });
  const planned = requests.map(({ registry, name, source, repository }) => {
    // Two credentials of one registry are distinguished by their images.
    const isDisputed = requests.some((other) => other.registry === registry && other.source !== source);
    return { registry: isDisputed ? imageKey(registry, name) : registryKey(registry), source, repository };
  });
  return [...new Map(planned.map((pull) => [pull.registry, pull])).values()];
}

export function pullStatus(plan: readonly PullCredential[]): PullCredential[] {
  return plan.map(({ registry, source }) => ({ registry, source }));
}

/**
 * The kubelet's name for Docker Hub; it also matches a credential by a prefix of an image's full name:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/credentialprovider/keyring.go.
 */
const registryKey = (registry: string) => (registry === DOCKER_HUB ? "https://index.docker.io/v1/" : registry);

/** Docker Hub's official images begin implicitly with `library`. */
const imageKey = (registry: string, name: string) =>
  registry === DOCKER_HUB && !name.includes("/") ? `${registry}/library/${name}` : `${registry}/${name}`;

/**
 * Desired content of the Secret, by registry, and its status field. An unavailable planned credential leaves its
 * registry's existing one in place; an unplanned entry stays, because former pods may still need it.
 *
 * @param answers the plan, each with its credential if available
 * @param named entries in the status
 * @param existing entries in the Secret
 */
export function pullContents(
  answers: readonly PullEntry[],
  named: readonly PullCredential[],
  existing: ReadonlyMap<string, Sensitive>,
): { readonly credentials: ReadonlyMap<string, Sensitive>; readonly pullSecret: PullCredential[] } {
  const entryOf = (pull: PullCredential): PullEntry[] => {
    const credential = existing.get(pull.registry);
    return credential === undefined ? [] : [{ ...pull, credential }];
  };
  const planned = answers.flatMap((answer): PullEntry[] => {
    if (answer.credential !== undefined) return [answer];
    const former = named.find(({ registry }) => registry === answer.registry);
    const left = entryOf(former ?? answer);
    // An entry in the status stays: it is restored when its credential is available.
    return left.length === 0 && former !== undefined ? [former] : left;
  });
  const former = formerPulls(answers, named).flatMap(entryOf);
  // The last entry is in use; of too many, the oldest are dropped.
  const entries: readonly PullEntry[] = [...planned, ...former.slice(-(PULLS_MAX - planned.length))];
  return {
    credentials: new Map(entries.flatMap(({ registry, credential }) => (credential ? [[registry, credential]] : []))),
    pullSecret: pullStatus(entries),
  };
}

/** Unplanned entries of the status. */
export function formerPulls(plan: readonly PullCredential[], named: readonly PullCredential[]): PullCredential[] {
  return named.filter(({ registry }) => plan.every((planned) => planned.registry !== registry));
}

/** Entries of our Secret, by registry; empty when it is missing or unreadable. */
export function credentialsIn(found: DesiredObject | undefined): ReadonlyMap<string, Sensitive> {
  const { ".dockerconfigjson": text = "" } = (found?.data ?? {}) as Readonly<Record<string, string>>;
  return loginsOf(Buffer.from(text, "base64").toString());
}

/** The pull Secret, immutable against edits: a change replaces the object. */
export function pullSecretObject(
  environment: EphemeralEnvironment,
  credentials: ReadonlyMap<string, Sensitive>,
): DesiredObject {
  const sorted = [...credentials].sort(([one], [other]) => (one < other ? -1 : 1));
  const auths = sorted.map(([registry, credential]) => [registry, { auth: base64(credential.reveal()) }]);
  return inNamespace(environment, secretKind, PULL_SECRET, {
    type: "kubernetes.io/dockerconfigjson",
    immutable: true,
    data: { ".dockerconfigjson": base64(JSON.stringify({ auths: Object.fromEntries(auths) })) },
  });
}
