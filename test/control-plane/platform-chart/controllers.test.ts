import { beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import {
  environmentObject,
  given,
  namespaceObject,
  paths,
  roleBindingObject,
} from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

describe("the policies don't stand in the way of Kubernetes' own controllers", () => {
  const name = unique("controllers-");
  const namespace = `env-${name}`;
  const environment = `${paths.environments}/${name}`;
  let platform: ApiCalls;

  beforeAll(async () => {
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
  }, 60_000);

  test("the namespace controller finishes a namespace of ours with all that is in it", async () => {
    const metadata = { name: "environment" };
    await given(platform, paths.roleBindings(namespace), roleBindingObject());
    await given(platform, `/api/v1/namespaces/${namespace}/resourcequotas`, {
      metadata,
      spec: { hard: { pods: "3" } },
    });
    await given(platform, `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, {
      metadata,
      spec: { podSelector: {} },
    });
    expect(await platform.delete(`${paths.namespaces}/${namespace}`)).toMatchObject({ status: 200 });
    const check = async () => (await platform.get(`${paths.namespaces}/${namespace}`)).status === 404;
    await until(check, { what: "the namespace to be gone", deadlineMs: 30_000 });
  }, 40_000);

  test("the quota controller counts in a namespace of ours", async () => {
    const other = unique("env-controllers-");
    await given(platform, paths.namespaces, namespaceObject(other));
    const quotas = `/api/v1/namespaces/${other}/resourcequotas`;
    await given(platform, quotas, { metadata: { name: "environment" }, spec: { hard: { configmaps: "3" } } });
    const check = async () => {
      const { object } = await platform.get(`${quotas}/environment`);
      return (object as { status?: { hard?: object } }).status?.hard !== undefined;
    };
    await until(check, { what: "the quota to be counted", deadlineMs: 20_000 });
    await platform.delete(`${paths.namespaces}/${other}`);
  }, 30_000);

  test("the garbage collector takes its own finalizer off an environment, and leaves ours", async () => {
    const finalizers = ["ephemeral-environments.dev/teardown", "foregroundDeletion"];
    await given(platform, paths.environments, environmentObject(name, { trigger: { kind: "api" } }, { finalizers }));
    const collector = callsAs(plane, {
      user: "system:serviceaccount:kube-system:generic-garbage-collector",
      groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
    });
    const own = await collector.patch(environment, { metadata: { finalizers: finalizers.slice(0, 1) } });
    expect(own).toMatchObject({ status: 200 });
    const ours = await collector.patch(environment, { metadata: { finalizers: [] } });
    expect(ours).toMatchObject({ status: 403, message: expect.stringContaining("is held until everything is gone") });
  });
});
