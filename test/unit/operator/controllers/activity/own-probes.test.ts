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
  expect([...probes.take()]).toEqual([
    ["shop.example.org", 2],
    ["shop.example.org:8443", 1],
  ]);
  expect(probes.take().size).toBe(0);
});

test("a probe is counted before it is sent", async () => {
  const probes = new OwnProbes();
  const counts: unknown[] = [];
  const prober = probes.counted({
    async probe() {
      counts.push(...probes.take());
      return answer("healthy");
    },
  });
  await prober.probe("https://shop.example.org", "/");
  expect(counts).toEqual([["shop.example.org", 1]]);
});

test("hosts are remembered up to a bound, because a replica that does not lead takes none", async () => {
  const probes = new OwnProbes();
  const prober = probes.counted({ probe: async () => answer("healthy") });
  for (let host = 0; host < 50_001; host += 1) await prober.probe(`https://shop-${host}.example.org`, "/");
  expect(probes.take().size).toBeLessThanOrEqual(50_000);
});
