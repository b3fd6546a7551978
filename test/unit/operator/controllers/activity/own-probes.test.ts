import { expect, test } from "@jest/globals";
import { OwnProbes } from "../../../../../operator/controllers/activity/own-probes.ts";
import type { ProbeResult } from "../../../../../operator/ports/url-prober.ts";

const answer = (status: ProbeResult["status"]): ProbeResult => ({ status, responseTimeMs: 1, message: "" });

test("probes that got an answer are counted by host, each until it is taken", async () => {
  const probes = new OwnProbes();
  const probe = (status: ProbeResult["status"], url: string) =>
    probes.counted({ probe: async () => answer(status) }).probe(url, "/");
  await probe("healthy", "https://shop.example.org");
  await probe("unhealthy", "https://shop.example.org");
  await probe("unreachable", "https://shop.example.org");
  await probe("healthy", "https://shop.example.org:8443");
  expect(probes.take("shop.example.org")).toBe(2);
  expect(probes.take("shop.example.org")).toBe(0);
  expect(probes.take("shop.example.org:8443")).toBe(1);
});

test("a probe is counted before it is sent", async () => {
  const probes = new OwnProbes();
  const counts: number[] = [];
  const prober = probes.counted({
    async probe() {
      counts.push(probes.take("shop.example.org"));
      return answer("healthy");
    },
  });
  await prober.probe("https://shop.example.org", "/");
  expect(counts).toEqual([1]);
});
