import { PULL_SECRET } from "../../operator/environment/desired/pull-secret.ts";
import type { WireObject } from "../../operator/kinds.ts";

/** Whether an environment's images are pulled with that Secret. */
export const isPullSecret = ({ kind, metadata }: WireObject) => kind === "Secret" && metadata.name === PULL_SECRET;

/** What the kubelet finds in such a Secret: by registry, its credential as `user:password`. */
export function pullCredentials({ data }: WireObject): Record<string, string> {
  const { ".dockerconfigjson": config = "" } = data as Record<string, string>;
  const { auths } = JSON.parse(decoded(config)) as { auths: Record<string, { auth: string }> };
  return Object.fromEntries(Object.entries(auths).map(([registry, { auth }]) => [registry, decoded(auth)]));
}

const decoded = (text: string) => Buffer.from(text, "base64").toString("utf8");
