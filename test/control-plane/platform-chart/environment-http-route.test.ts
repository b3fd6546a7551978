import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { type CopiedPolicies, copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { httpRouteKind } from "../../support/plane/chart/http-route-kind.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const name = unique("routed-");
const foreign = unique("foreign-");
const namespace = `env-${name}`;
const own = `${name}.env.localhost`;
const ownApi = `${name}--api.env.localhost`;
const further = `${name}--admin.env.localhost`;
const theirs = "shop.env.localhost";
const backend = { name: "backend", port: 80 };

const versioned = (version: string, spec: object, annotations: object = {}) => ({
  apiVersion: `gateway.networking.k8s.io/${version}`,
  kind: "HTTPRoute",
  metadata: { name: "web", annotations },
  spec,
});
const route = (spec: object, annotations?: object) => versioned("v1", { hostnames: [own], ...spec }, annotations);
const ruled = (rule: object) => route({ rules: [{ backendRefs: [backend], ...rule }] });
const filtered = (filter: object) => ruled({ filters: [filter] });
const matched = (match: object) => ruled({ matches: [match] });
const mirror = (backendRef: object) => ({ type: "RequestMirror", requestMirror: { backendRef } });

const hosts = `which are ${own} and ${name}--<name>.env.localhost, `;
const ownServices = "a backend of an HTTPRoute of an environment is a Service of its own namespace";
const knownFilters = "a filter of an HTTPRoute of an environment is RequestHeaderModifier";
const ownHosts = "a redirect or a rewrite of an HTTPRoute of an environment leads to one of its hosts";
const knownFields = "an HTTPRoute of an environment has only parentRefs, hostnames and rules";
const gateways = "spec.parentRefs of an HTTPRoute of an environment names only Gateways";
const harmless = "a match of an HTTPRoute holds only letters, digits and";
const extension = { group: "traefik.io", kind: "Middleware", name: "all" };

const refused: readonly [what: string, object: object, words: string][] = [
  ["no hostname", versioned("v1", { rules: [] }), hosts],
  ["another environment's host", route({ hostnames: [theirs] }), hosts],
  ["another host beside its own", route({ hostnames: [own, theirs] }), hosts],
  ["a further host of another environment", route({ hostnames: [own, "shop--admin.env.localhost"] }), hosts],
  ["a further host of one whose name goes on", route({ hostnames: [`${name}-x--admin.env.localhost`] }), hosts],
  ["a Service elsewhere", ruled({ backendRefs: [{ ...backend, namespace: "kube-system" }] }), ownServices],
  ["the gateway's own pages", ruled({ backendRefs: [{ ...extension, kind: "TraefikService" }] }), ownServices],
  ["a kind beside Services", ruled({ backendRefs: [{ ...backend, kind: "ConfigMap" }] }), ownServices],
  ["an extension", filtered({ type: "ExtensionRef", extensionRef: extension }), knownFilters],
  ["an extension under another type", filtered({ type: "CORS", extensionRef: extension }), knownFilters],
  ["a service that decides on each request", filtered({ type: "ExternalAuth", externalAuth: {} }), knownFilters],
  [
    "an extension of one backend",
    ruled({ backendRefs: [{ ...backend, filters: [{ type: "ExtensionRef", extensionRef: extension }] }] }),
    knownFilters,
  ],
  ["a mirror elsewhere", filtered(mirror({ ...backend, namespace: "argocd" })), "mirrors requests only to Services"],
  ["a mirror of another kind", filtered(mirror({ ...backend, group: "x.test" })), "mirrors requests only to Services"],
  ["a redirect elsewhere", filtered({ type: "RequestRedirect", requestRedirect: { hostname: theirs } }), ownHosts],
  [
    "a redirect to another's further host",
    filtered({ type: "RequestRedirect", requestRedirect: { hostname: "shop--admin.env.localhost" } }),
    ownHosts,
  ],
  ["a rewrite elsewhere", filtered({ type: "URLRewrite", urlRewrite: { hostname: "evil.test" } }), ownHosts],
  [
    "a rule in a rewritten path",
    filtered({ type: "URLRewrite", urlRewrite: { path: { type: "ReplaceFullPath", replaceFullPath: "/;}" } } }),
    ownHosts,
  ],
  ["a rule in its path", matched({ path: { type: "PathPrefix", value: "/`) || Host(`shop.env.localhost" } }), harmless],
  ["a rule in a header", matched({ headers: [{ name: "x", value: "`) || Host(`shop" }] }), harmless],
  ["a rule in the name of a header", matched({ headers: [{ name: "x`", value: "y" }] }), harmless],
  ["a rule in a parameter", matched({ queryParams: [{ name: "x", value: 'a"b' }] }), harmless],
  ["a Service's place in a mesh", route({ parentRefs: [{ group: "", kind: "Service", name: "shop" }] }), gateways],
  ["a Gateway", route({ parentRefs: [{ name: "gateway", namespace: "ingress" }] }), "environments.gateways"],
  ["an unknown field", route({ useDefaultGateways: "All" }), knownFields],
  ["an unknown field of a rule", ruled({ sessionPersistence: { sessionName: "x" } }), knownFields],
  ["an unknown field of a match", matched({ expression: "Host(`shop`)" }), knownFields],
  [
    "an annotation that is not known",
    route({}, { "traefik.ingress.kubernetes.io/router.middlewares": "x" }),
    "has no annotation traefik.ingress.kubernetes.io/router.middlewares: ",
  ],
];

describe("abuse case 95: an HTTPRoute of an environment", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;
  let httpRoutes: Awaited<ReturnType<typeof httpRouteKind>>;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
    await given(admin, paths.namespaces, { metadata: { name: foreign } });
    httpRoutes = await httpRouteKind(admin);
  }, 60_000);

  afterAll(async () => {
    await platform.delete(`${paths.namespaces}/${namespace}`);
    await admin.delete(`${paths.namespaces}/${foreign}`);
    await httpRoutes.remove();
  });

  test("serves its own hosts from its own Services, with what the Gateway API has for that", async () => {
    const filters = [
      { type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "x", value: "'self'; y" }] } },
      { type: "RequestRedirect", requestRedirect: { scheme: "https", statusCode: 301, hostname: ownApi } },
      { type: "RequestRedirect", requestRedirect: { hostname: further } },
      { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } },
      mirror({ ...backend, name: "shadow" }),
    ];
    const paths = ["/", "/api/(v1|v2)/.*"].map((value) => ({ path: { value }, method: "GET" }));
    const matches = [...paths, { headers: [{ name: "X-Beta", value: "1" }], queryParams: [{ name: "q", value: "1" }] }];
    const backendRefs = [{ ...backend, group: "", kind: "Service", namespace, weight: 1, filters }];
    const rule = { name: "all", matches, filters, backendRefs, timeouts: { request: "10s" }, retry: { attempts: 2 } };
    const whole = { hostnames: [own, ownApi, further], parentRefs: [], rules: [rule, { backendRefs: [backend] }] };
    const annotations = {
      "argocd.argoproj.io/sync-wave": "1",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    };
    expect(await admin.create(httpRoutes.path(namespace), route(whole, annotations))).toMatchObject({ status: 201 });
  });

  test.each(refused)("has not %s", async (_, object, words) => {
    const reply = await admin.create(httpRoutes.path(namespace), object);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test("is held to it in every version, and when it changes", async () => {
    const elsewhere = { hostnames: [own], rules: [{ backendRefs: [{ ...backend, namespace: "argocd" }] }] };
    const message = expect.stringContaining(ownServices);
    const older = await admin.create(httpRoutes.path(namespace, "v1beta1"), versioned("v1beta1", elsewhere));
    expect(older).toMatchObject({ status: 403, message });
    const collection = httpRoutes.path(namespace).replace("?dryRun=All", "");
    await given(admin, collection, ruled({}));
    for (const version of ["v1", "v1beta1"]) {
      const path = `${collection.replace("/v1/", `/${version}/`)}/web`;
      expect(await admin.patch(path, { spec: elsewhere })).toMatchObject({ status: 403, message });
    }
    expect(await admin.patch(`${collection}/web`, { metadata: { labels: { a: "b" } } })).toMatchObject({ status: 200 });
    await admin.delete(`${collection}/web`);
  });

  test("is anything in a namespace that is not ours", async () => {
    const anything = versioned("v1", { rules: [{ backendRefs: [{ ...backend, namespace: "kube-system" }] }] });
    expect(await admin.create(httpRoutes.path(foreign), anything)).toMatchObject({ status: 201 });
  });

  describe("where the values name Gateways", () => {
    const allowing = unique("env-gated-");
    const hostname = `${allowing.slice(4)}.env.localhost`;
    const environments = { gateways: ["ingress/gateway", `${allowing}/g`] };
    const to = (parentRefs: readonly object[]) => versioned("v1", { hostnames: [hostname], parentRefs });
    let copies: CopiedPolicies;

    beforeAll(async () => {
      await given(admin, paths.namespaces, { metadata: { name: allowing } });
      copies = await copiedPolicies(admin, { names: ["environment-http-route"], namespace: allowing, environments });
      const check = async () => (await admin.create(httpRoutes.path(allowing), route({}))).status === 403;
      await until(check, { what: "the copied rules to hold", deadlineMs: 20_000 });
    }, 60_000);

    afterAll(async () => {
      await copies.remove();
      await admin.delete(`${paths.namespaces}/${allowing}`);
    });

    test("hangs on these alone", async () => {
      const group = "gateway.networking.k8s.io";
      const named = { name: "gateway", namespace: "ingress", sectionName: "https" };
      const both = to([named, { group, kind: "Gateway", name: "g" }]);
      expect(await admin.create(httpRoutes.path(allowing), both)).toMatchObject({ message: "", status: 201 });
      for (const other of [{ name: "gateway" }, { ...named, name: "internal" }, { ...named, namespace: "office" }]) {
        const reply = await admin.create(httpRoutes.path(allowing), to([named, other]));
        expect(reply).toMatchObject({ status: 403, message: expect.stringContaining("environments.gateways") });
      }
    });
  });
});
