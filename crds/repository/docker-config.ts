import { Sensitive } from "../sensitive.ts";

/**
 * Logins of a docker configuration, `user:password` by registry; empty for another text.
 *
 * https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets
 */
export function loginsOf(configuration: string): ReadonlyMap<string, Sensitive> {
  try {
    const { auths } = JSON.parse(configuration) as { auths: Readonly<Record<string, { auth?: unknown }>> };
    const logins = Object.entries(auths).flatMap(([registry, { auth }]) =>
      typeof auth === "string"
        ? [[registry, new Sensitive(Buffer.from(auth, "base64").toString("utf8"))] as const]
        : [],
    );
    return new Map(logins);
  } catch {
    // The error would quote the text.
    return new Map();
  }
}
