import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiCalls, callsAs } from "../../support/api-calls.ts";
import { controlPlane } from "../../support/control-plane.ts";
import { given, uidLabel } from "../../support/environment-objects.ts";
import { administrator, unique } from "../../support/people.ts";
import { installPlatformChart } from "../../support/platform-chart.ts";

const argoCd = "/apis/argoproj.io/v1alpha1/namespaces/argocd";
const ours = unique("env-deployer-");
const foreign = unique("env-prod-");
const uid = "11111111-2222-4333-8444-555555555555";
const server = "https://kubernetes.default.svc";
const onlyOurApplications = "the platform writes only applications and projects env-* that carry the label";

function argoObject(
  kind: "Application" | "AppProject",
  name: string,
  spec: object,
  labels: object = { [uidLabel]: uid },
) {
  return { apiVersion: "argoproj.io/v1alpha1", kind, metadata: { name, labels }, spec };
}
const source = { repoURL: "http://127.0.0.1/chart.git", path: "." };
const application = (name: string, project: string, namespace: string, labels?: object) =>
  argoObject("Application", name, { project, source, destination: { server, namespace } }, labels);
const project = (name: string, spec: object, labels?: object) =>
  argoObject("AppProject", name, { destinations: [{ server, namespace: name }], ...spec }, labels);

describe("the platform's identity can't", () => {
  const plane = controlPlane();
  let admin: ApiCalls;
  let platform: ApiCalls;

  beforeAll(async () => {
    const { platformToken } = await installPlatformChart(plane);
    admin = administrator(plane);
    platform = callsAs(plane, { token: platformToken });
    await given(admin, `${argoCd}/applications`, application(foreign, "default", foreign, {}));
  }, 60_000);

  afterAll(async () => {
    await admin.delete(`${argoCd}/applications/${foreign}`);
  });

  async function refused(reply: ReturnType<ApiCalls["get"]>, words: string): Promise<void> {
    expect(await reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  }

  test("have the deployer write outside an environment", async () => {
    const [applications, projects] = [`${argoCd}/applications?dryRun=All`, `${argoCd}/appprojects?dryRun=All`];
    const own = "belongs to the project, and goes to the namespace, of its own name";
    await refused(platform.create(applications, application(ours, "default", ours)), own);
    await refused(platform.create(applications, application(ours, ours, "kube-system")), own);
    await refused(platform.create(applications, application(ours, ours, ours, {})), onlyOurApplications);
    await refused(platform.create(applications, application("shop", "shop", "shop")), onlyOurApplications);
    const elsewhere = { project: ours, source, destination: { server: "https://other.test", namespace: ours } };
    await refused(platform.create(applications, argoObject("Application", ours, elsewhere)), own);
    const admits = "admits only the namespace of its own name in this cluster, and no cluster-scoped kinds";
    const everywhere = { destinations: [{ server, namespace: "*" }] };
    await refused(platform.create(projects, project(ours, everywhere)), admits);
    await refused(
      platform.create(projects, project(ours, { destinations: [{ server: "*", namespace: ours }] })),
      admits,
    );
    const everything = { clusterResourceWhitelist: [{ group: "*", kind: "*" }] };
    await refused(platform.create(projects, project(ours, everything)), admits);
  });

  test("change or delete an application that is not its own", async () => {
    const path = `${argoCd}/applications/${foreign}`;
    const take = { metadata: { labels: { [uidLabel]: uid } }, spec: { project: foreign } };
    await refused(platform.patch(path, take), onlyOurApplications);
    await refused(platform.delete(path), onlyOurApplications);
    expect(await admin.get(path)).toMatchObject({ status: 200, object: { spec: { project: "default" } } });
  });
});
