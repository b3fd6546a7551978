import { expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../config/settings.ts";
import { localSettings } from "../../../../../deploy/local/platform/settings.ts";
import type { ClusterSite } from "../../../../../deploy/local/site.ts";

test("the operator accepts the local cluster's settings: Gitea is a host, and webhooks have one key", () => {
  const chart = { url: "http://127.0.0.1:9300/platform/environment-chart.git" };
  const site = { ca: { certificate: "/ca.crt" }, repositories: { chart } } as unknown as ClusterSite;
  const { publicUrl, hosts, webhooks, api, console, activity, gate } = settingsFrom(localSettings(site));
  expect(publicUrl).toBe("http://127.0.0.1:8080");
  expect(api.issuers).toMatchObject([{ commandLine: { clientId: "eenv" } }]);
  expect(console).toMatchObject({ publicUrl: "http://localhost:8080", clientId: "console" });
  expect(hosts).toMatchObject([{ id: "gitea", kind: "gitea", apiUrl: "http://127.0.0.1:9301/api/v1" }]);
  expect(activity?.ingress).toEqual({ controller: "traefik", urls: ["http://127.0.0.1:18444/metrics"] });
  expect(webhooks.secrets).toEqual([{ name: "webhooks", key: "latest" }]);
  expect(gate).toMatchObject({ host: "10.244.0.1", port: 8081, probes: { host: "127.0.0.1", port: 9091 } });
});
