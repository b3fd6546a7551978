import { beforeAll, describe, expect, test } from "@jest/globals";
import { administrator, unique } from "../../support/faults/people.ts";
import { given, namespaceObject, paths } from "../../support/fixtures/environment/environment-objects.ts";
import { type ApiCalls, callsAs } from "../../support/http/api-calls.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const plane = await controlPlane();

const name = unique("traffic-");
const foreign = unique("foreign-");
const namespace = `env-${name}`;
const own = `${name}.env.localhost`;
const ownApi = `${name}--api.env.localhost`;
const theirs = "shop.env.localhost";
const service = { service: { name: "backend", port: { number: 80 } } };

function ingress(hosts: readonly string[], spec: object = {}, annotations: object = {}, path = "/"): object {
  const http = { paths: [{ path, pathType: "ImplementationSpecific", backend: service }] };
  const rules = hosts.map((host) => ({ ...(host && { host }), http }));
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web", annotations },
    spec: { rules, tls: [{ hosts: hosts.filter(Boolean) }], ...spec },
  };
}

const serviceObject = (spec: object) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { ports: [{ port: 80 }], ...spec },
});

const hosts = `which are ${own} and ${ownApi}`;
const refusedIngresses: readonly [what: string, object: object, words: string][] = [
  ["another environment's host", ingress([theirs]), `names one of its hosts, ${hosts}`],
  ["another host beside its own", ingress([own, theirs]), `names one of its hosts, ${hosts}`],
  ["a host below its own", ingress([`x.${own}`]), `names one of its hosts, ${hosts}`],
  ["all hosts of the domain", ingress(["*.env.localhost"]), `names one of its hosts, ${hosts}`],
  ["no host", ingress([""]), `names one of its hosts, ${hosts}`],
  ["a default backend", ingress([own], { defaultBackend: service }), "has no default backend"],
  ["a certificate of others", ingress([own], { tls: [{ hosts: [theirs] }] }), `names only its hosts, ${hosts}`],
  [
    "a rule in its path",
    ingress([own], {}, {}, "/`) || Host(`shop.env.localhost"),
    "a path of an Ingress holds only letters, digits and",
  ],
  ...[
    ["an alias", "nginx.ingress.kubernetes.io/server-alias"],
    ["a snippet", "nginx.ingress.kubernetes.io/configuration-snippet"],
    ["aliases of Kong", "konghq.com/host-aliases"],
    ["an alias of HAProxy", "haproxy-ingress.github.io/server-alias-regex"],
    ["a part of HAProxy's configuration", "haproxy-ingress.github.io/config-backend"],
    ["a rule in its path matcher", "traefik.ingress.kubernetes.io/router.pathMatcher"],
    ["a look-alike of an allowed annotation", "traefik.ingress.kubernetes.io/router.tls.more"],
    ["a look-alike of Argo CD's", "argocd.argoproj.io.example.test/x"],
  ].map(([what = "", key = ""]): [string, object, string] => [
    what,
    ingress([own], {}, { "traefik.ingress.kubernetes.io/router.tls": "true", [key]: theirs }),
    `has no annotation ${key}: `,
  ]),
];

const refusedServices: readonly [what: string, object: object, words: string][] = [
  ["a node's port", serviceObject({ type: "NodePort" }), "has the type ClusterIP, not NodePort"],
  ["a load balancer", serviceObject({ type: "LoadBalancer" }), "has the type ClusterIP, not LoadBalancer"],
  [
    "a name elsewhere",
    serviceObject({ type: "ExternalName", externalName: "db.internal" }),
    "has the type ClusterIP, not ExternalName",
  ],
  ["an address of others", serviceObject({ externalIPs: ["10.1.2.3"] }), "has no spec.externalIPs"],
];

describe("what an environment may answer to", () => {
  const ingresses = `${paths.ingresses(namespace)}?dryRun=All`;
  const services = `${paths.services(namespace)}?dryRun=All`;
  let admin: ApiCalls;
  let platform: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
    await given(admin, paths.namespaces, { metadata: { name: foreign } });
  }, 60_000);

  test("an Ingress for both its hosts, with TLS", async () => {
    expect(await admin.create(ingresses, ingress([own, ownApi]))).toMatchObject({ status: 201 });
    expect(await admin.create(ingresses, ingress([own], { tls: [{}] }))).toMatchObject({ status: 201 });
    const annotations = {
      "traefik.ingress.kubernetes.io/router.tls": "true",
      "argocd.argoproj.io/tracking-id": `${namespace}:networking.k8s.io/Ingress:${namespace}/web`,
      "argocd.argoproj.io/sync-wave": "1",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    };
    expect(await admin.create(ingresses, ingress([own], {}, annotations, "/api/(v1|v2)/.*"))).toMatchObject({
      status: 201,
    });
  });

  test.each(refusedIngresses)("no Ingress with %s", async (_, object, words) => {
    const reply = await admin.create(ingresses, object);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test("no Ingress that takes another host later", async () => {
    const kept = { ...ingress([own]), metadata: { name: "kept" } };
    const created = await given(admin, paths.ingresses(namespace), kept);
    const changed = { ...created, spec: (ingress([theirs]) as { spec: object }).spec };
    const reply = await admin.replace(`${paths.ingresses(namespace)}/kept`, changed);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(hosts) });
  });

  test("a Service inside the cluster", async () => {
    expect(await admin.create(services, serviceObject({}))).toMatchObject({ status: 201 });
    expect(await admin.create(services, serviceObject({ clusterIP: "None" }))).toMatchObject({ status: 201 });
  });

  test.each(refusedServices)("no Service with %s", async (_, object, words) => {
    const reply = await admin.create(services, object);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test("namespaces that are not ours may answer to anything", async () => {
    const anything = ingress([theirs], { defaultBackend: service });
    expect(await admin.create(`${paths.ingresses(foreign)}?dryRun=All`, anything)).toMatchObject({ status: 201 });
    const nodePort = serviceObject({ type: "NodePort" });
    expect(await admin.create(`${paths.services(foreign)}?dryRun=All`, nodePort)).toMatchObject({ status: 201 });
  });
});
