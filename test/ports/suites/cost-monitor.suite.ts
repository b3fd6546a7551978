import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type CostMonitor, CostMonitorUnavailable } from "../../../operator/ports/cost-monitor.ts";
import type { HourOfNamespace } from "../../support/doubles/memory/costs/cost-monitor.ts";

export interface AllocationsScene {
  readonly allocations: CostMonitor;
  knows(...hours: readonly HourOfNamespace[]): void;
  /** Makes it fail, or answer again. */
  fails(isFailing: boolean): void;
  stop(): Promise<void>;
}

const never = new AbortController().signal;
const period = (from: string, to: string) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) });
const cost = (cpu: number, other = 0) => ({ cpu, memory: 3, storage: 1, other });

export function costMonitorSuite(title: string, start: () => Promise<AllocationsScene>): void {
  describe(`allocations, ${title}`, () => {
    let scene: AllocationsScene;
    beforeAll(async () => {
      scene = await start();
      scene.knows(
        { namespace: "env-shop", at: "2026-06-01T12:00:00Z", cost: cost(1_234_567, 89) },
        { namespace: "env-shop", at: "2026-06-01T13:00:00Z", cost: cost(10) },
        { namespace: "env-billing", at: "2026-06-01T13:00:00Z", cost: cost(0) },
      );
    });
    afterAll(() => scene.stop());
    const of = async (from: string, to: string, signal = never) => [
      ...(await scene.allocations.byNamespace(period(`2026-06-01T${from}:00Z`, `2026-06-01T${to}:00Z`), signal)),
    ];
    const environments = async (from: string, to: string) =>
      (await of(from, to)).filter(([namespace]) => namespace.startsWith("env-"));

    test("are what was allocated in the period, and what cost nothing is there, too", async () => {
      expect(await environments("12:00", "13:00")).toEqual([["env-shop", cost(1_234_567, 89)]]);
      const both = await environments("13:00", "14:00");
      expect(both).toHaveLength(2);
      expect(both).toContainEqual(["env-shop", cost(10)]);
      expect(both).toContainEqual(["env-billing", cost(0)]);
    });

    test("of a longer period are the sum", async () => {
      const sum = { cpu: 1_234_577, memory: 6, storage: 2, other: 89 };
      expect(await environments("12:00", "14:00")).toContainEqual(["env-shop", sum]);
    });

    test("of a time of which nothing is known are of no namespace", async () => {
      expect(await environments("08:00", "09:00")).toEqual([]);
    });

    test("that are unavailable are an error", async () => {
      scene.fails(true);
      await expect(of("12:00", "13:00")).rejects.toThrow(CostMonitorUnavailable);
      scene.fails(false);
      expect(await environments("12:00", "13:00")).toHaveLength(1);
    });

    test("are not asked for once the caller has ended", async () => {
      await expect(of("12:00", "13:00", AbortSignal.abort())).rejects.toThrow();
    });
  });
}
