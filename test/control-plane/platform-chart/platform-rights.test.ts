import { beforeAll, describe, expect, test } from "@jest/globals";
import { GROUP } from "../../../crds/group.ts";
import { clusterIdentity } from "../../../operator/adapters/google/connection.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { argoApplication, argoCd, argoProject } from "../../support/plane/chart/argocd-objects.ts";
import {
  environmentObject,
  given,
  namespaceObject,
  paths,
  roleBindingObject,
} from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const leases = "/apis/coordination.k8s.io/v1/namespaces/ephemeral-system/leases";

describe("the platform's identity can do what the operator does", () => {
  const name = unique("can-");
  const namespace = `env-${name}`;
  let platform: ApiCalls;

  beforeAll(async () => {
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
  }, 60_000);

  /** Creates, reads, changes and deletes one object, as the operator does. */
  async function owns(collection: string, object: object): Promise<void> {
    const { metadata } = (await given(platform, collection, object)) as { metadata: { name: string } };
    const path = `${collection}/${metadata.name}`;
    expect(await platform.get(path)).toMatchObject({ status: 200 });
    expect(await platform.patch(path, { metadata: { annotations: { [`${GROUP}/touched`]: "yes" } } })).toMatchObject({
      status: 200,
    });
    expect(await platform.delete(path)).toMatchObject({ status: 200 });
  }

  test.each([
    ["ephemeral-environments.dev", "ephemeralenvironments", ""],
    ["ephemeral-environments.dev", "repositories", "ephemeral-system"],
    ["ephemeral-environments.dev", "configsets", "ephemeral-system"],
    ["ephemeral-environments.dev", "apitokens", "ephemeral-system"],
    ["ephemeral-environments.dev", "webhookdeliveries", "ephemeral-system"],
    ["ephemeral-environments.dev", "environmentrecords", "ephemeral-system"],
    ["apps", "controllerrevisions", "ephemeral-system"],
    ["", "namespaces", ""],
    ["", "resourcequotas", ""],
    ["", "limitranges", ""],
    ["networking.k8s.io", "networkpolicies", ""],
    ["rbac.authorization.k8s.io", "rolebindings", ""],
    ["argoproj.io", "applications", "argocd"],
    ["argoproj.io", "appprojects", "argocd"],
  ])("lists and watches %s %s %s", async (group, resource, namespace) => {
    for (const verb of ["list", "watch"]) {
      const review = { spec: { resourceAttributes: { group, resource, namespace, verb } } };
      const reply = await platform.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);
      expect(reply.object).toMatchObject({ status: { allowed: true } });
    }
  });

  test("environments, with all that only the platform sets", async () => {
    const finalizers = ["ephemeral-environments.dev/teardown"];
    // The longest that the REST interface accepts: issuer, "#" and the token's subject.
    const subject = `https://${"i".repeat(512 - 8)}#${"s".repeat(255)}`;
    const owner = { subject, email: "dev@example.test", name: "Dev" };
    const object = environmentObject(unique("can-"), { owner, trigger: { kind: "api" } }, { finalizers });
    const { metadata } = (await given(platform, paths.environments, object)) as { metadata: { name: string } };
    const path = `${paths.environments}/${metadata.name}`;
    expect(await platform.patch(`${path}/status`, { status: { phase: "creating" } })).toMatchObject({ status: 200 });
    expect(await platform.delete(path)).toMatchObject({ status: 200 });
    expect(await platform.patch(path, { metadata: { finalizers: [] } })).toMatchObject({ status: 200 });
    expect(await platform.get(path)).toMatchObject({ status: 404 });
  });

  test("the isolation of an environment's namespace", async () => {
    const metadata = { name: "environment" };
    await owns(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata, spec: { hard: { pods: "3" } } });
    await owns(`/api/v1/namespaces/${namespace}/limitranges`, {
      metadata,
      spec: { limits: [{ type: "Container", default: { memory: "1Gi" } }] },
    });
    await owns(`/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, {
      metadata,
      spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    });
  });

  test("secrets, logs and what makes pods of an environment's namespace, once it has bound its role there", async () => {
    const secrets = paths.secrets(namespace);
    expect(await platform.get(`${secrets}/any`)).toMatchObject({ status: 403 });
    await given(platform, paths.roleBindings(namespace), roleBindingObject());
    const check = async () => (await platform.get(`${secrets}/any`)).status === 404;
    await until(check, { what: "the new right to hold", deadlineMs: 5_000 });
    await given(platform, secrets, { metadata: { name: "environment-secrets-0a1b2c3d" }, immutable: true });
    expect(await platform.delete(`${secrets}/environment-secrets-0a1b2c3d`)).toMatchObject({ status: 200 });
    expect(await platform.get(`/api/v1/namespaces/${namespace}/pods`)).toMatchObject({ status: 200 });
    expect(await platform.get(`/api/v1/namespaces/${namespace}/pods/any/log`)).toMatchObject({ status: 404 });
    expect(await platform.get(secrets)).toMatchObject({ status: 200 });
    expect(await platform.get("/api/v1/secrets")).toMatchObject({ status: 403 });
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    expect(await platform.get(deployments)).toMatchObject({ status: 200 });
    expect(await platform.get(`${deployments}/any`)).toMatchObject({ status: 403 });
    expect(await platform.get(`/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`)).toMatchObject({
      status: 200,
    });
    expect(await platform.create(deployments, { metadata: { name: "any" } })).toMatchObject({ status: 403 });
    expect(await platform.delete(`${paths.roleBindings(namespace)}/platform`)).toMatchObject({ status: 200 });
  });

  test("entries of the embedded secret manager", async () => {
    await owns(paths.secrets("ephemeral-secrets"), { metadata: { name: unique("can-") }, data: { "A.1": "eA==" } });
    expect(await platform.get(paths.secrets("ephemeral-secrets"))).toMatchObject({ status: 200 });
  });

  test("the UID of kube-system, requested for once, and again only when there was no answer", async () => {
    const kubeConfig = kubeConfigOf(plane, plane.platform.token);
    let requested = 0;
    const onRequest: RequestInterceptor = async (_request, next) => {
      requested += 1;
      return requested === 1 ? { status: 500, headers: {}, body: {} } : next();
    };
    const client = createKubeClient({ kubeConfig, onRequest });
    const identity = clusterIdentity(client);
    await expect(identity()).rejects.toBeInstanceOf(SecretManagerUnavailable);
    const { object } = await administrator(plane).get(`${paths.namespaces}/kube-system`);
    const { uid } = (object as { metadata: { uid: string } }).metadata;
    expect(await Promise.all([identity(), identity()])).toEqual([uid, uid]);
    expect(await identity()).toBe(uid);
    expect(requested).toBe(2);
    await client.close();
  });

  test("its application and its project", async () => {
    await owns(argoCd.projects, argoProject(namespace));
    await owns(argoCd.applications, argoApplication(namespace));
  });

  test("of Repositories what it found out, its own finalizer, and the memory of reloads", async () => {
    const { apiVersion } = environmentObject("any") as { apiVersion: string };
    const name = unique("can-");
    const spec = { type: "backend", cloneUrl: "https://git.test/x.git", image: { repository: "registry.test/x" } };
    await given(administrator(plane), paths.repositories, { apiVersion, kind: "Repository", metadata: { name }, spec });
    const path = `${paths.repositories}/${name}`;
    expect(await platform.patch(`${path}/status`, { status: { reachable: true } })).toMatchObject({ status: 200 });
    expect(await platform.patch(path, { metadata: { annotations: { a: "b" } } })).toMatchObject({ status: 200 });
    expect(await platform.delete(path)).toMatchObject({ status: 403 });
    await until(async () => (await platform.patch(path, { spec: { port: 1 } })).status === 403, {
      what: "the policy to hold what a Repository says",
    });
    await administrator(plane).delete(path);
    const configMaps = "/api/v1/namespaces/ephemeral-system/configmaps";
    expect(await platform.get("/api/v1/namespaces/default/configmaps/any")).toMatchObject({ status: 403 });
    expect(await platform.get(`${configMaps}/repository-reload`)).toMatchObject({ status: 404 });
    const memory = { metadata: { name: "repository-reload" }, data: {} };
    expect(await platform.create(configMaps, memory)).toMatchObject({ status: 201 });
    expect(await platform.patch(`${configMaps}/repository-reload`, { data: { a: "b" } })).toMatchObject({
      status: 200,
    });
    await administrator(plane).delete(`${configMaps}/repository-reload`);
  });

  test("config sets, and no Repository", async () => {
    const { apiVersion } = environmentObject("any") as { apiVersion: string };
    const metadata = { name: unique("can-") };
    await owns(paths.configSets, { apiVersion, kind: "ConfigSet", metadata, spec: {} });
    expect(await platform.create(paths.repositories, { apiVersion, kind: "Repository", metadata })).toMatchObject({
      status: 403,
    });
  });

  test("its lease", async () => {
    const lease = unique("can-");
    const made = await given(platform, leases, { metadata: { name: lease }, spec: { holderIdentity: "one" } });
    expect(await platform.replace(`${leases}/${lease}`, { ...made, spec: { holderIdentity: "two" } })).toMatchObject({
      status: 200,
    });
    await administrator(plane).delete(`${leases}/${lease}`);
  });
});
