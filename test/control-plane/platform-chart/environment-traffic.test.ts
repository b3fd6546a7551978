import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { type CopiedPolicies, copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

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

const hosts = `which are ${own} and ${name}--<name>.env.localhost, `;
const refusedIngresses: readonly [what: string, object: object, words: string][] = [
  ["another environment's host", ingress([theirs]), `names one of its hosts, ${hosts}`],
  ["another host beside its own", ingress([own, theirs]), `names one of its hosts, ${hosts}`],
  ["a host below its own", ingress([`x.${own}`]), `names one of its hosts, ${hosts}`],
  ["all hosts of the domain", ingress(["*.env.localhost"]), `names one of its hosts, ${hosts}`],
  ...[
    ["a further host of another environment", "shop--admin.env.localhost"],
    ["a further host of one whose name goes on", `${name}-x--admin.env.localhost`],
    ["the host of one whose name goes on", `${name}-x.env.localhost`],
    ["a further host of one whose name it goes on from", `${name.slice(0, -1)}--admin.env.localhost`],
    ["the host of one that would have its name and more", `${name}---x.env.localhost`],
    ["a host with a name that is too long", `${name}--a-name-of-12.env.localhost`],
    ["a host below a further one", `x.${name}--admin.env.localhost`],
    ["a further host of two labels", `${name}--a.b.env.localhost`],
    ["a further host of another domain", `${name}--admin.env-localhost`],
    ["every further host", `*.${name}--admin.env.localhost`],
  ].map(([what = "", host = ""]): [string, object, string] => [
    what,
    ingress([host]),
    `names one of its hosts, ${hosts}`,
  ]),
  ["no host", ingress([""]), `names one of its hosts, ${hosts}`],
  ["a default backend", ingress([own], { defaultBackend: service }), "has no default backend"],
  [
    "a certificate of another's further host",
    ingress([own], { tls: [{ hosts: ["shop--admin.env.localhost"] }] }),
    `names only its hosts, ${hosts}`,
  ],
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

  test.each(["admin", "x", "a-name-of11", "a--b"])("an Ingress for its further host %s, with TLS", async (further) => {
    const object = ingress([own, ownApi, `${name}--${further}.env.localhost`]);
    expect(await admin.create(ingresses, object)).toMatchObject({ message: "", status: 201 });
  });

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

describe("abuse case 122: the class of an Ingress of an environment", () => {
  const classes = "/apis/networking.k8s.io/v1/ingressclasses";
  const usual = unique("usual-");
  const internal = unique("internal-");
  const classy = unique("env-classy-");
  const allowing = unique("env-allowing-");
  const ofClass = (place: string, ingressClassName?: string) => ({
    metadata: { name: "web" },
    spec: { ...(ingressClassName && { ingressClassName }), rules: [{ host: `${place.slice(4)}.env.localhost` }] },
  });
  const path = (place: string) => `${paths.ingresses(place)}?dryRun=All`;
  let admin: ApiCalls;
  let copies: CopiedPolicies;

  beforeAll(async () => {
    admin = administrator(plane);
    const annotations = { "ingressclass.kubernetes.io/is-default-class": "true" };
    const spec = { controller: "example.test/none" };
    await given(admin, classes, { metadata: { name: usual, annotations }, spec });
    await given(admin, classes, { metadata: { name: internal }, spec });
    await given(callsAs(plane, { token: plane.platform.token }), paths.namespaces, namespaceObject(classy));
    await given(admin, paths.namespaces, { metadata: { name: allowing } });
    const environments = { ingressClasses: [internal] };
    const names = ["environment-ingress-classes", "environment-ingress"];
    copies = await copiedPolicies(admin, { names, namespace: allowing, environments });
    const check = async () => (await admin.create(path(allowing), ofClass(classy, usual))).status === 403;
    await until(check, { what: "the copied rules to hold", deadlineMs: 20_000 });
  }, 60_000);

  afterAll(async () => {
    await copies.remove();
    for (const name of [usual, internal]) await admin.delete(`${classes}/${name}`);
    for (const name of [classy, allowing]) await admin.delete(`${paths.namespaces}/${name}`);
  });

  test("is the cluster's default, or one that the values name", async () => {
    const isHeld = async () => (await admin.create(path(classy), ofClass(classy, internal))).status === 403;
    await until(isHeld, { what: "the rules for classes to hold", deadlineMs: 20_000 });
    const reply = await admin.create(path(classy), ofClass(classy, internal));
    expect(reply.message).toContain(`spec.ingressClassName of an Ingress of an environment is not ${internal}`);
    expect(reply.message).toContain("environments.ingressClasses");
    expect(await admin.create(path(classy), ofClass(classy))).toMatchObject({ message: "", status: 201 });
    expect(await admin.create(path(classy), ofClass(classy, usual))).toMatchObject({ message: "", status: 201 });
    expect(await admin.create(path(allowing), ofClass(allowing, internal))).toMatchObject({ message: "", status: 201 });
  });

  test("is not chosen by an annotation", async () => {
    const { spec } = ofClass(classy);
    const annotated = { metadata: { name: "web", annotations: { "kubernetes.io/ingress.class": internal } }, spec };
    const message = expect.stringContaining("has no annotation kubernetes.io/ingress.class: ");
    expect(await admin.create(path(classy), annotated)).toMatchObject({ status: 403, message });
  });
});
