import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addresses } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";
import { answersPing, type LocalRedis } from "./redis-ping.ts";

/** Argo CD's cache. Its writers decide what Argo CD applies, so it has a password and a certificate. */
export const redisComponent: BuiltComponent = {
  name: "redis",
  after: [],
  async start(site) {
    const redis = await argoCdRedis(site);
    const subject = { commonName: "redis", alternativeNames: ["IP:127.0.0.1"] };
    const { certificate, key } = await site.ca.issue("redis", subject);
    const command = join(site.built.controlplane.programs, "redis");
    const args = ["--tls-cert-file", certificate, "--tls-key-file", key, `127.0.0.1:${redis.port}`];
    const spec = { name: "redis", command, args, env: { REDIS_PASSWORD: redis.password } };
    await keepRunning(site.folder, spec, () => answersPing(redis));
  },
};

/**
 * Address, password and authority of Argo CD's Redis. The password is made once, in a file that only the cluster's owner can
 * read.
 */
export async function argoCdRedis({ folder, ca }: Pick<ClusterSite, "folder" | "ca">): Promise<Required<LocalRedis>> {
  const file = join(folder, "redis-password");
  if (!existsSync(file)) await writeFile(file, randomBytes(24).toString("hex"), { mode: 0o600 });
  return { port: addresses.redisPort, password: await readFile(file, "utf8"), caFile: ca.certificate };
}

/**
 * Arguments and environment by which a program of Argo CD uses the Redis; other users can't read the password in its
 * environment.
 */
export function redisClient(redis: Required<LocalRedis>, caFile = redis.caFile) {
  return {
    args: ["--redis", `127.0.0.1:${redis.port}`, "--redis-use-tls", "--redis-ca-certificate", caFile],
    env: { REDIS_PASSWORD: redis.password },
  };
}
