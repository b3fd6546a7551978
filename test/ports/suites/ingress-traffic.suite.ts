import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type IngressTraffic, IngressTrafficUnavailable } from "../../../operator/ports/ingress-traffic.ts";

export interface TrafficScene {
  readonly traffic: IngressTraffic;
  /** An instance starts, with counters at 0. */
  begins(instance: string): Promise<void>;
  passesOn(instance: string, namespace: string, count: number): void;
  /** Counters of the instance begin anew. */
  restarts(instance: string): void;
  vanishes(instance: string): Promise<void>;
  /** Makes all instances fail, or answer again. */
  fails(isFailing: boolean): void;
  stop(): Promise<void>;
}

const never = new AbortController().signal;
const ENVIRONMENTS = new Set(["env-shop", "env-billing"]);

export function ingressTrafficSuite(title: string, start: () => Promise<TrafficScene>): void {
  describe(`requests, ${title}`, () => {
    let scene: TrafficScene;
    beforeEach(async () => {
      scene = await start();
      await scene.begins("one");
      scene.passesOn("one", "env-shop", 7);
    });
    afterEach(() => scene.stop());
    const requests = async (signal = never) =>
      Object.fromEntries(await scene.traffic.requestsSinceLast(ENVIRONMENTS, signal));
    const unavailable = async () => {
      scene.fails(true);
      await expect(requests()).rejects.toThrow(IngressTrafficUnavailable);
      scene.fails(false);
    };

    test("are those since the former reading, and the first reading has none", async () => {
      expect(await requests()).toEqual({});
      scene.passesOn("one", "env-shop", 2);
      scene.passesOn("one", "env-billing", 1);
      scene.passesOn("one", "kube-system", 9);
      expect(await requests()).toEqual({ "env-shop": 2, "env-billing": 1 });
      scene.passesOn("one", "env-billing", 3);
      expect(await requests()).toEqual({ "env-billing": 3 });
      expect(await requests()).toEqual({});
    });

    test("of a reading that fails are in the next one", async () => {
      await requests();
      scene.passesOn("one", "env-shop", 2);
      await unavailable();
      scene.passesOn("one", "env-shop", 3);
      await unavailable();
      expect(await requests()).toEqual({ "env-shop": 5 });
    });

    test("are none in the first reading that succeeds", async () => {
      await unavailable();
      scene.passesOn("one", "env-shop", 2);
      expect(await requests()).toEqual({});
      scene.passesOn("one", "env-shop", 1);
      expect(await requests()).toEqual({ "env-shop": 1 });
    });

    test("of an instance that restarts count from 0", async () => {
      await requests();
      scene.restarts("one");
      scene.passesOn("one", "env-shop", 4);
      expect(await requests()).toEqual({ "env-shop": 4 });
    });

    test("of a new instance count whole, and one that vanishes takes none away", async () => {
      await requests();
      await scene.begins("two");
      scene.passesOn("two", "env-shop", 3);
      scene.passesOn("one", "env-shop", 1);
      expect(await requests()).toEqual({ "env-shop": 4 });
      await scene.vanishes("one");
      scene.passesOn("two", "env-shop", 2);
      expect(await requests()).toEqual({ "env-shop": 2 });
    });

    test("are not asked for once the caller has ended, and are in the next reading", async () => {
      await requests();
      scene.passesOn("one", "env-shop", 2);
      await expect(requests(AbortSignal.abort())).rejects.not.toThrow(IngressTrafficUnavailable);
      expect(await requests()).toEqual({ "env-shop": 2 });
    });
  });
}
