import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { run } from "./support/command.ts";
import { create, Environments, untilReady } from "./support/environments.ts";
import { execInPod, kubectl, list, read, refusalOf, waitFor } from "./support/kubectl.ts";
import { podSecret, podSecretName } from "./support/secrets.ts";
import { names, TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const HOST = "10.244.0.1";
const BRIDGE = "eph0";

const environments = new Environments();
const name = environments.name("isolated");
const namespace = `--namespace=env-${name}`;
beforeAll(async () => {
  await create(name);
  await untilReady(name);
});
afterAll(() => environments.removeAll());

interface Container {
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
}
interface Pod {
  readonly spec: {
    readonly containers: readonly Container[];
    readonly volumes?: readonly object[];
  };
  readonly status: {
    /** The user set by the container runtime, not only the requested one. */
    readonly containerStatuses: readonly { readonly user: { readonly linux: { readonly uid: number } } }[];
  };
}

describe("abuse cases 81 and 82: the pods of an environment", () => {
  test("run unprivileged, without capabilities and without a way to gain any", async () => {
    const pods = await list<Pod>("pods", namespace);
    expect(pods).toHaveLength(2);
    for (const { spec, status } of pods) {
      expect(status.containerStatuses.every(({ user }) => user.linux.uid > 0)).toBe(true);
      for (const { securityContext } of spec.containers) {
        const closed = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true };
        expect(securityContext).toMatchObject({ ...closed, capabilities: { drop: ["ALL"] } });
      }
    }
  });

  test("hold no credential for the Kubernetes API", async () => {
    for (const { spec } of await list<Pod>("pods", namespace)) {
      const mounts = spec.containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ mountPath }) => mountPath));
      expect(mounts.filter((path) => path.startsWith("/var/run/secrets"))).toEqual([]);
      expect((spec.volumes ?? []).filter((volume) => "projected" in volume || "secret" in volume)).toEqual([]);
    }
  });

  test("share a quota that is counted, and that holds", async () => {
    const quota = await read<{ status: { hard: object; used: object } }>("resourcequota", "environment", namespace);
    expect(Object.keys(quota.status.hard)).toEqual(expect.arrayContaining(["pods", "requests.cpu", "limits.memory"]));
    expect(quota.status.used).toMatchObject({ pods: "2" });
    const greedy = pod({}, restricted, { resources: { requests: { cpu: "1000" } } });
    expect(await refusalOf(greedy)).toMatch(/exceeded quota: environment, requested: requests.cpu=1k/);
  });
});

describe("abuse case 93: from the machine, pods reach", () => {
  const fromPod = (url: string) => execInPod("deployment/backend", namespace, "--", "/sample", "get", url);

  test("the API server, which authenticates them", async () => {
    // Pods do not trust its authority: the connection ends with the certificate.
    expect(await fromPod(`https://${HOST}:16443/version`)).toContain("certificate signed by unknown authority");
  });

  test("no other program, whatever its address", async () => {
    const server = createServer((_request, response) => response.end()).listen(0, "0.0.0.0");
    try {
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const own = await fetch(`http://${HOST}:${port}`, { signal: AbortSignal.timeout(5_000) });
      expect(own.status).toBe(200);
      const kubelet = 10_250;
      const deployerMetrics = 18_082;
      for (const closed of [port, kubelet, deployerMetrics]) {
        expect(await fromPod(`http://${HOST}:${closed}/`)).toContain("connection refused");
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("the DNS server, which knows the names of Services", async () => {
    expect(await fromPod("http://backend/healthz")).toMatch(/^200/);
  });
});

/** An interface of `ip -json`: empty without an address of the requested family. */
interface Interface {
  readonly ifname?: string;
  readonly addr_info?: readonly { readonly local: string }[];
}

test("pods add no address of IPv6 to the machine: for each that comes or goes, requests of a Chromium on it fail", async () => {
  const shown = async (...args: string[]) => {
    const { stdout } = await run("ip", { args: ["-json", ...args], deadlineMs: 5_000 });
    return JSON.parse(stdout || "[]") as readonly Interface[];
  };
  expect((await shown("link", "show", "master", BRIDGE)).length).toBeGreaterThanOrEqual(2);
  const places = [
    ["dev", BRIDGE],
    ["master", BRIDGE],
  ] as const;
  const all = await Promise.all(places.map((place) => shown("-6", "address", "show", ...place)));
  expect(all.flat().flatMap(({ addr_info = [] }) => addr_info.map(({ local }) => local))).toEqual([]);
});

const restricted = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const pod = (spec: object, securityContext: object, container: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "intruder", namespace: `env-${name}` },
  spec: {
    automountServiceAccountToken: false,
    ...spec,
    containers: [{ name: "intruder", image: "intruder", securityContext, ...container }],
  },
});

test.each([
  { kind: "privileged", spec: {}, context: { privileged: true }, says: /privileged/ },
  { kind: "run as root", spec: {}, context: { ...restricted, runAsUser: 0 }, says: /runAsUser=0/ },
  { kind: "in the host's network", spec: { hostNetwork: true }, context: restricted, says: /host namespaces/ },
  {
    kind: "looking at the host's files",
    spec: { volumes: [{ name: "host", hostPath: { path: "/" } }] },
    context: restricted,
    says: /hostPath/,
  },
])("a pod that is $kind is refused, even from the administrator", async ({ spec, context, says }) => {
  const words = await refusalOf(pod(spec, context));
  expect(words).toMatch(/violates PodSecurity "restricted/);
  expect(words).toMatch(says);
});

describe("abuse cases 83 and 84: the isolation of an environment", () => {
  test("is restored when it is deleted", async () => {
    const before = await read("networkpolicy", "default-deny", namespace);
    await kubectl("delete", "networkpolicy", "default-deny", namespace);
    await waitFor(["--for=create", "networkpolicy/default-deny", namespace], 30);
    const after = await read<{ spec: object }>("networkpolicy", "default-deny", namespace);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  test("is restored when it is edited", async () => {
    const { spec } = await read<{ spec: object }>("networkpolicy", "allowed-traffic", namespace);
    const open = JSON.stringify({ spec: { ingress: [{}], egress: [{}] } });
    await kubectl("patch", "networkpolicy", "allowed-traffic", namespace, "--type=merge", `--patch=${open}`);
    await waitFor(["--for=jsonpath={.spec.ingress[0].from}", "networkpolicy/allowed-traffic", namespace], 30);
    expect((await read<{ spec: object }>("networkpolicy", "allowed-traffic", namespace)).spec).toEqual(spec);

    const wide = JSON.stringify({ spec: { hard: { pods: "1000" } } });
    await kubectl("patch", "resourcequota", "environment", namespace, "--type=merge", `--patch=${wide}`);
    await waitFor(["--for=jsonpath={.spec.hard.pods}=30", "resourcequota/environment", namespace], 30);
  });

  test("keeps the secrets as they were: an edit is refused, a deletion undone with the same values", async () => {
    const before = await podSecret(name);
    const secret = await podSecretName(name);
    const edit = JSON.stringify({ stringData: { API_TOKEN: "mine" } });
    const patch = ["patch", "secret", secret, namespace, `--patch=${edit}`];
    await expect(kubectl(...patch)).rejects.toThrow(/immutable/);
    expect(await podSecret(name)).toEqual(before);

    await kubectl("delete", "secret", secret, namespace);
    // Secrets are never watched: the next recurring reconcile would find the gap, and a requested one does so now.
    await kubectl("annotate", "eenv", name, `ephemeral-environments.dev/reconcile-at=${Date.now()}`);
    await waitFor(["--for=create", `secret/${secret}`, namespace], 30);
    expect(await podSecret(name)).toEqual(before);
  });

  test("keeps the deployer to this one namespace and to kinds that can't undo the rest", async () => {
    interface Project {
      readonly spec: {
        readonly destinations: readonly { readonly namespace: string }[];
        /** None when absent. */
        readonly clusterResourceWhitelist?: readonly object[];
        readonly namespaceResourceWhitelist: readonly { readonly kind: string }[];
      };
    }
    const { spec } = await read<Project>("appproject", `env-${name}`, `--namespace=${names.deployerNamespace}`);
    expect(spec.destinations.map((destination) => destination.namespace)).toEqual([`env-${name}`]);
    expect(spec.clusterResourceWhitelist ?? []).toEqual([]);
    const undoing = /^(\*|Secret|Role|RoleBinding|NetworkPolicy|ResourceQuota|LimitRange|Application|AppProject)$/;
    expect(spec.namespaceResourceWhitelist.filter(({ kind }) => undoing.test(kind))).toEqual([]);
  });
});
