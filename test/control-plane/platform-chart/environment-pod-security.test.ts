import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { workload, workloadPaths } from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const namespace = unique("env-secured-");
const foreign = unique("foreign-");

let admin: ApiCalls;
let platform: ApiCalls;
beforeAll(async () => {
  admin = administrator(plane);
  platform = callsAs(plane, { token: plane.platform.token });
  await given(platform, paths.namespaces, namespaceObject(namespace));
  await given(admin, paths.namespaces, { metadata: { name: foreign } });
  for (const place of [namespace, foreign]) {
    const account = `/api/v1/namespaces/${place}/serviceaccounts/default`;
    await until(async () => (await admin.get(account)).status === 200, { what: "an account", deadlineMs: 30_000 });
  }
}, 60_000);
afterAll(async () => {
  await platform.delete(`${paths.namespaces}/${namespace}`);
  await admin.delete(`${paths.namespaces}/${foreign}`);
});

interface Made {
  readonly spec: {
    readonly securityContext: object;
    readonly containers: object[];
    readonly initContainers?: object[];
  };
}

const container = (name: string, securityContext?: object) => ({
  name,
  image: "registry.test/none:1",
  ...(securityContext && { securityContext }),
});
const pod = (spec: object, place = namespace) =>
  admin.create(
    `${workloadPaths.Pod(place)}?dryRun=All`,
    workload("Pod", { automountServiceAccountToken: false, ...spec }),
  );
const closed = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const podLevel = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };

test("a pod that says nothing of its security gets what Pod Security restricted demands, in every container", async () => {
  const { status, message, object } = await pod({
    initContainers: [container("first")],
    containers: [container("a"), container("b")],
  });
  expect({ status, message }).toEqual({ status: 201, message: "" });
  const { spec } = object as unknown as Made;
  expect(spec.securityContext).toEqual(podLevel);
  for (const one of [...spec.containers, ...(spec.initContainers ?? [])])
    expect(one).toMatchObject({ securityContext: closed });
});

test("what a pod says stays as it is", async () => {
  const said = {
    securityContext: { runAsUser: 1000, fsGroup: 1000 },
    containers: [
      container("a", { readOnlyRootFilesystem: true, capabilities: { add: ["NET_BIND_SERVICE"] } }),
      container("b", { seccompProfile: { type: "Localhost", localhostProfile: "a.json" }, capabilities: {} }),
    ],
  };
  const { status, object } = await pod(said);
  expect(status).toBe(201);
  const { spec } = object as unknown as Made;
  expect(spec.securityContext).toEqual({ ...podLevel, ...said.securityContext });
  expect(spec.containers).toMatchObject([
    {
      securityContext: {
        readOnlyRootFilesystem: true,
        ...closed,
        capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] },
      },
    },
    { securityContext: { ...closed, seccompProfile: { type: "Localhost", localhostProfile: "a.json" } } },
  ]);
});

test.each([
  ["root", { securityContext: { runAsUser: 0 } }, "runAsUser=0"],
  ["any user", { securityContext: { runAsNonRoot: false } }, "runAsNonRoot"],
  ["unconfined", { securityContext: { seccompProfile: { type: "Unconfined" } } }, "seccompProfile"],
  ["in the node's network", { hostNetwork: true }, "host"],
  ["mighty", { containers: [container("a", { capabilities: { add: ["SYS_ADMIN"] } })] }, "SYS_ADMIN"],
  [
    "mighty by another name",
    { containers: [container("a", { capabilities: { add: ["CAP_SYS_ADMIN"] } })] },
    "CAP_SYS_ADMIN",
  ],
  ["mighty in the network", { containers: [container("a", { capabilities: { add: ["NET_ADMIN"] } })] }, "NET_ADMIN"],
  [
    "able to gain rights",
    { containers: [container("a", { allowPrivilegeEscalation: true })] },
    "allowPrivilegeEscalation",
  ],
  ["able to keep rights", { containers: [container("a", { capabilities: { drop: ["KILL"] } })] }, "capabilities"],
  ["mighty at first", { initContainers: [container("first", { capabilities: { add: ["SYS_ADMIN"] } })] }, "SYS_ADMIN"],
])("a pod that asks to be %s is refused in Pod Security's words", async (_, spec, words) => {
  const reply = await pod({ containers: [container("a")], ...spec });
  expect(reply).toMatchObject({ status: 403, message: expect.stringContaining("violates PodSecurity") });
  expect(reply.message).toContain(words);
});

test("the pods of others are not touched", async () => {
  const { object } = await pod({ containers: [container("a")] }, foreign);
  const { spec } = object as unknown as Made;
  expect(spec.securityContext).toEqual({});
  expect(spec.containers[0]).not.toHaveProperty("securityContext");
});
