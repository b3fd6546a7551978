import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createCredentialSource, inCluster } from "../../../../../operator/kit/client/credentials.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "in-cluster-"));
  await writeFile(join(folder, "token"), "first\n");
  await writeFile(join(folder, "ca.crt"), "authority");
});

afterEach(() => rm(folder, { recursive: true }));

test("outside of a pod there is no such cluster", () => {
  expect(inCluster({}, folder)).toBeUndefined();
});

test.each([
  { host: "10.0.0.1", port: "6443", server: "https://10.0.0.1:6443" },
  { host: "fd00::1", port: "443", server: "https://[fd00::1]:443" },
])("$host is spoken to at $server", ({ host, port, server }) => {
  const variables = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
  expect(inCluster(variables, folder)?.getCurrentCluster()).toMatchObject({ server, skipTLSVerify: false });
});

test("calls carry the pod's token as it is now, and trust the mounted authority", async () => {
  const clock = new TestClock();
  const kubeConfig = inCluster({ KUBERNETES_SERVICE_HOST: "10.0.0.1" }, folder);
  if (kubeConfig === undefined) throw new Error("there is no cluster");
  const source = createCredentialSource(kubeConfig, clock);
  const { headers, tls } = await source.current();
  expect(headers).toEqual({ authorization: "Bearer first" });
  expect(String(tls.options.ca)).toBe("authority");
  await writeFile(join(folder, "token"), "second\n");
  source.expire();
  expect((await source.current()).headers).toEqual({ authorization: "Bearer second" });
});
