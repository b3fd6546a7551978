import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Workload } from "../../../operator/ports/api/pods.ts";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const labels = { app: "podinfo" };
const workload = (kind: string, name: string, more: Partial<Workload> = {}): Workload => ({
  kind,
  name,
  desired: 1,
  ready: 1,
  restarts: 0,
  images: [`registry.test/${name}:1`],
  ...more,
});

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
  service.repositories.put(
    aRepository("shop-chart", { workloads: { backend: { labels } }, access: { groups: ["shop"] } }),
  );
  await service.environments.create("shop", {
    backend: { repository: "shop-chart", branch: "main" },
    access: { groups: ["shop"] },
  });
  service.workloads.put(
    "shop",
    workload("Deployment", "podinfo", { component: "backend", desired: 2, restarts: 3, problem: "fails: repair it" }),
    workload("StatefulSet", "redis"),
    workload("Deployment", "redis"),
  );
});
afterEach(() => service.stop());

const PATH = "/api/v2/environments/shop";
async function ask(path: string, as: Person = "viewer") {
  return service.http.get(path).set({ authorization: await service.bearer(as) });
}

describe("the workloads of an environment", () => {
  test("are listed with their pods and what is wrong, by what the Repository says of components", async () => {
    const reply = await ask(`${PATH}/workloads`);
    expectPromised(reply, "get", "/api/v2/environments/{environment_id}/workloads");
    const [first, second] = reply.body.data.workloads;
    expect(first).toEqual({
      kind: "Deployment",
      name: "podinfo",
      component: "backend",
      pods_desired: 2,
      pods_ready: 1,
      restarts: 3,
      images: ["registry.test/podinfo:1"],
      problem: "fails: repair it",
    });
    expect(second).toMatchObject({ name: "redis", component: null, problem: null });
    expect(service.workloads.selectors).toEqual({ backend: { labels } });
  });

  test("are none of version 1", async () => {
    expectProblem(await ask("/api/environments/shop/workloads"), 404, "Not found");
  });

  test("can't be had while the cluster can't be reached", async () => {
    service.workloads.setReachable(false);
    expectProblem(await ask(`${PATH}/workloads`), 503, /Kubernetes API/);
  });
});

describe("the log of a workload", () => {
  const write = (writer: string, text: string) => service.podLogs.write("shop", writer, { at: new Date(), text });

  beforeEach(() => {
    write("backend", "of the backend");
    write("StatefulSet/redis", "of the StatefulSet");
    write("Deployment/podinfo", "of podinfo");
  });

  test.each([
    ["StatefulSet/redis", "StatefulSet/redis", "of the StatefulSet"],
    ["statefulset/redis", "StatefulSet/redis", "of the StatefulSet"],
    ["podinfo", "Deployment/podinfo", "of podinfo"],
  ])("is that of %s", async (requested, workload, message) => {
    const reply = await ask(`${PATH}/logs/backend?workload=${encodeURIComponent(requested)}`);
    expectPromised(reply, "get", "/api/v2/environments/{environment_id}/logs/{component}");
    expect(reply.body.data).toMatchObject({ component: "backend", workload, logs: [{ message }], total_lines: 1 });
  });

  test("is that of the component without it", async () => {
    const reply = await ask(`${PATH}/logs/backend`);
    expect(reply.body.data).toMatchObject({ workload: null, logs: [{ message: "of the backend" }] });
  });

  test.each(["", "/stream"])(
    "of a name that none has is not found, and those that there are are named: %s",
    async (of) => {
      const reply = await ask(`${PATH}/logs/backend${of}?workload=Deployment/web`);
      expectProblem(
        reply,
        404,
        "The environment has no workload 'Deployment/web'; it has Deployment/podinfo, StatefulSet/redis, Deployment/redis",
      );
    },
  );

  test("of an environment without any is not found", async () => {
    service.workloads.put("shop");
    expectProblem(await ask(`${PATH}/logs/backend?workload=web`), 404, /no workload 'web'; it has none$/);
  });

  test("of many is named in a sentence that ends", async () => {
    service.workloads.put("shop", ...Array.from({ length: 60 }, (_, at) => workload("Job", `j${at}`)));
    expectProblem(await ask(`${PATH}/logs/backend?workload=web`), 404, /Job\/j49 and 10 more$/);
  });

  test.each(["", "/stream"])("of a name that two have asks for the kind: %s", async (of) => {
    const reply = await ask(`${PATH}/logs/backend${of}?workload=redis`);
    expectProblem(reply, 400, "workload: 'redis' is one of StatefulSet/redis, Deployment/redis: name its kind, too");
  });

  test("is none of the deployer's, nor of a component that the environment lacks, nor of version 1", async () => {
    expectProblem(await ask(`${PATH}/logs/argocd?workload=redis`), 400, /^workload: the report of argocd/);
    expectProblem(await ask(`${PATH}/logs/frontend?workload=podinfo`), 404, "The environment has no frontend");
    expectProblem(await ask("/api/environments/shop/logs/backend?workload=podinfo"), 400, /workload/);
  });

  test.each(["a/b/c", "../secrets", "Deployment/", "-a", "A", "a b", "x".repeat(318)])(
    "of what is no name is refused: %s",
    async (requested) => {
      const reply = await ask(`${PATH}/logs/backend?workload=${encodeURIComponent(requested)}`);
      expectProblem(reply, 400, /^workload: /);
    },
  );

  test("a look at it is recorded", async () => {
    await ask(`${PATH}/logs/backend?workload=podinfo`);
    const [record] = service.audit.records.filter(({ action }) => action === "getLogs");
    expect(record).toMatchObject({ event: "read", target: "shop", outcome: "accepted", status: 200 });
  });
});
