import { namespaceName } from "../../crds/names.ts";
import { secretKind } from "../kinds.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { type ResourceType, resourcePath } from "../kit/kube-object.ts";
import type { Pods } from "../ports/pods.ts";
import { type Container, deploymentType, type Pod, podType, type SecretObject } from "./pod-objects.ts";
import { COMPONENT_LABEL, currentPods, type Finding, troublesOf } from "./pod-troubles.ts";
import { masked } from "./secret-mask.ts";

const LINES = 20;
const SHOWN_BYTES = 2 * 1024;
const LONGEST_LINE = 500;
/** More than twenty lines should need: what is cut off could be half a secret. */
const READ_BYTES = 64 * 1024;
const LOG_DEADLINE_MS = 5_000;

/** The Pods port on the Kubernetes API, with the rights that come with the environment's own namespace. */
export function kubernetesPods(client: KubeClient): Pods {
  return {
    async diagnose({ name }) {
      const namespace = namespaceName(name);
      const [pods, deployments] = await Promise.all([
        client.list(podType, { namespace }),
        client.list(deploymentType, { namespace }),
      ]);
      return troublesOf(pods.items, deployments.items).map(({ said, speaker, ...trouble }) => ({
        ...trouble,
        evidence: () => evidence(client, { said, speaker }),
      }));
    },

    async readiness({ name }, component) {
      const labelSelector = `${COMPONENT_LABEL}=${component}`;
      const pods = currentPods((await client.list(podType, { namespace: namespaceName(name), labelSelector })).items);
      if (pods.length === 0) return "absent";
      return pods.every(isReady) ? "ready" : "unready";
    },
  };
}

const isReady = ({ status }: Pod) =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

/** The container's own last lines; without them what the cluster says, of which the container may have written a part. */
async function evidence(
  client: KubeClient,
  { said, speaker }: Pick<Finding, "said"> & { speaker: Finding["speaker"] },
) {
  if (speaker === undefined) return lastLines(masked(said, []));
  try {
    const [lines, values] = await Promise.all([log(client, speaker), secretValues(client, speaker.pod)]);
    // A value that can't be read can't be masked.
    if (values === undefined) return "";
    return lastLines(masked(lines, values)) || lastLines(masked(said, values));
  } catch {
    // What is wrong is known; the words about it are a help that may fail.
    return "";
  }
}

/** Empty where the kubelet has none (any more) or does not answer. */
async function log(
  client: KubeClient,
  { pod, container, isPrevious }: NonNullable<Finding["speaker"]>,
): Promise<string> {
  const query = {
    ...{ container, tailLines: String(LINES), limitBytes: String(READ_BYTES) },
    ...(isPrevious ? { previous: "true" } : {}),
  };
  const path = resourcePath(podType, { ...pod.metadata, subresource: "log" });
  const options = { limitBytes: READ_BYTES, signal: AbortSignal.timeout(LOG_DEADLINE_MS) };
  const text = await client.text(path, query, options).catch(() => "");
  const isCut = Buffer.byteLength(text) >= READ_BYTES - 4;
  return isCut ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
}

/** Every value that the pod's containers can know; `undefined` when one of their Secrets is not there. */
async function secretValues(client: KubeClient, { metadata, spec }: Pod): Promise<readonly string[] | undefined> {
  const { namespace } = metadata;
  if (spec === undefined || namespace === undefined) return undefined;
  const secretType = secretKind as ResourceType<SecretObject>;
  const names = new Set([...containersOf(spec).flatMap(secretsOf), ...volumeSecrets(spec)]);
  const secrets = await Promise.all([...names].map((name) => client.find(secretType, { name, namespace })));
  if (secrets.includes(undefined)) return undefined;
  return secrets.flatMap((secret) =>
    Object.values(secret?.data ?? {}).map((encoded) => Buffer.from(encoded, "base64").toString("utf8")),
  );
}

const containersOf = (spec: NonNullable<Pod["spec"]>) => [...(spec.initContainers ?? []), ...spec.containers];

function secretsOf({ env = [], envFrom = [] }: Container): string[] {
  const single = env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name);
  const whole = envFrom.map(({ secretRef }) => secretRef?.name);
  return [...single, ...whole].filter((name) => name !== undefined);
}

function volumeSecrets({ volumes = [] }: NonNullable<Pod["spec"]>): string[] {
  const named = volumes.flatMap(({ secret, projected }) => [
    secret?.secretName,
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
  ]);
  return named.filter((name) => name !== undefined);
}

/** The end of a text: whole lines, except that a very long one keeps its beginning. */
function lastLines(text: string): string {
  const shown: string[] = [];
  let left = SHOWN_BYTES;
  for (const line of text.trimEnd().split("\n").slice(-LINES).reverse()) {
    const short = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
    left -= Buffer.byteLength(short) + 1;
    if (left < 0) break;
    shown.unshift(short);
  }
  return shown.join("\n");
}
