import type { PullCredential } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { type Component, namespaceName } from "../../../crds/names.ts";
import { loginsOf } from "../../../crds/repository/docker-config.ts";
import { DOCKER_HUB, imagePlace, type Repository } from "../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { DesiredObject } from "../../ports/cluster.ts";

/** The one Secret that an environment's images are pulled with. Its name never changes, so that other values need no other pods. */
export const PULL_SECRET = "image-pull";

/** For whose images a credential is, in the words of a docker configuration, where it is kept, and whose wish it is. */
export interface PlannedPull extends PullCredential {
  readonly repository: Repository;
}

/** A credential that the Secret is to hold, and where it came from; without it the status alone names it. */
export interface PullEntry extends PullCredential {
  readonly credential?: Sensitive | undefined;
}

/** What the Secret is to hold, by registry, and what the status says of it. */
export interface PullContents {
  readonly credentials: ReadonlyMap<string, Sensitive>;
  readonly pullSecret: PullCredential[];
}

/** As many as the status holds. */
const PULLS_MAX = 16;

/**
 * What the environment's images are pulled with; nothing where its Repositories name nothing. Of two for the very same
 * image the frontend's counts: nothing in a docker configuration could tell them apart.
 */
export function pullPlan(repositories: { readonly [component in Component]?: Repository }): readonly PlannedPull[] {
  const asking = Object.values(repositories).flatMap((repository) => {
    const { imagePullSecretRef: ref } = repository.spec;
    return ref === undefined ? [] : [{ ...imagePlace(repository), source: `${ref.name}@${ref.key}`, repository }];
  });
  const planned = asking.map(({ registry, name, source, repository }) => {
    // Two credentials of one registry are told apart by the images that they are for.
    const isDisputed = asking.some((other) => other.registry === registry && other.source !== source);
    return { registry: isDisputed ? imageKey(registry, name) : registryKey(registry), source, repository };
  });
  return [...new Map(planned.map((pull) => [pull.registry, pull])).values()];
}

/** As the status keeps it. */
export function pullStatus(plan: readonly PullCredential[]): PullCredential[] {
  return plan.map(({ registry, source }) => ({ registry, source }));
}

/**
 * By this name the kubelet knows Docker Hub; it also finds a credential by the beginning of an image's whole name:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/credentialprovider/keyring.go.
 */
const registryKey = (registry: string) => (registry === DOCKER_HUB ? "https://index.docker.io/v1/" : registry);

/** Docker Hub's own images have a first part that nobody writes. */
const imageKey = (registry: string, name: string) =>
  registry === DOCKER_HUB && !name.includes("/") ? `${registry}/library/${name}` : `${registry}/${name}`;

/**
 * What the Secret is to hold by now. A planned credential that can't be had leaves what there is for its registry, and
 * what is planned no more stays beside it, because pods may still be made that need it.
 *
 * @param answers the plan, each with its credential where that can be had
 * @param named what the status says that there is
 * @param held what there is
 */
export function pullContents(
  answers: readonly PullEntry[],
  named: readonly PullCredential[],
  held: ReadonlyMap<string, Sensitive>,
): PullContents {
  const kept = (pull: PullCredential): PullEntry[] => {
    const credential = held.get(pull.registry);
    return credential === undefined ? [] : [{ ...pull, credential }];
  };
  const planned = answers.flatMap((answer): PullEntry[] => {
    if (answer.credential !== undefined) return [answer];
    const former = named.find(({ registry }) => registry === answer.registry);
    const left = kept(former ?? answer);
    // What the pods' values name stays named: it comes back as soon as it can be had.
    return left.length === 0 && former !== undefined ? [former] : left;
  });
  const former = formerPulls(answers, named).flatMap(kept);
  // The last is what serves; of those that never did, some have to go when there are too many.
  const entries: readonly PullEntry[] = [...planned, ...former.slice(-(PULLS_MAX - planned.length))];
  return {
    credentials: new Map(entries.flatMap(({ registry, credential }) => (credential ? [[registry, credential]] : []))),
    pullSecret: pullStatus(entries),
  };
}

/** What the status names and the plan does not. */
export function formerPulls(plan: readonly PullCredential[], named: readonly PullCredential[]): PullCredential[] {
  return named.filter(({ registry }) => plan.every((planned) => planned.registry !== registry));
}

/** What a Secret of ours holds, by registry; nothing where there is none, or what somebody else wrote can't be read. */
export function credentialsIn(found: DesiredObject | undefined): ReadonlyMap<string, Sensitive> {
  const { ".dockerconfigjson": text = "" } = (found?.data ?? {}) as Readonly<Record<string, string>>;
  return loginsOf(Buffer.from(text, "base64").toString());
}

/** Immutable, so that an edit is refused: other values are another object of this name. */
export function pullSecretObject(
  { metadata }: EphemeralEnvironment,
  credentials: ReadonlyMap<string, Sensitive>,
): DesiredObject {
  const sorted = [...credentials].sort(([one], [other]) => (one < other ? -1 : 1));
  const auths = sorted.map(([registry, credential]) => [registry, { auth: base64(credential.reveal()) }]);
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
