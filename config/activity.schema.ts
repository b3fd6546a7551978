import { type Static, Type } from "typebox";
import { isSafeAddress } from "../crds/addresses.ts";
import { closed, literals } from "../crds/schema.ts";

/** Ingress controllers whose metrics are understood. */
export const INGRESS_CONTROLLERS = ["traefik", "ingress-nginx", "haproxy", "envoy-gateway"] as const;
export type IngressController = (typeof INGRESS_CONTROLLERS)[number];

const Url = (description?: string) =>
  Type.String({ pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$", maxLength: 512, ...(description && { description }) });

const CaFile = Type.Optional(
  Type.String({ minLength: 1, description: "PEM file of the authority behind its certificate." }),
);

const Ingress = closed(
  {
    controller: literals(INGRESS_CONTROLLERS, {
      description:
        "The controller: Traefik, ingress-nginx, HAProxy (the one of HAProxy Technologies, and HAProxy Ingress), or Envoy Gateway.",
    }),
    urls: Type.Array(Url(), {
      minItems: 1,
      maxItems: 64,
      uniqueItems: true,
      description:
        "Addresses of its metrics, such as http://traefik-metrics.traefik:9100/metrics. All instances must be reached: a name stands for each of its addresses, so it is that of a headless Service, because any other one answers for one instance at random.",
    }),
    caFile: CaFile,
  },
  { description: "The metrics of the ingress controller's instances, at most 64 of them." },
);

const Prometheus = closed(
  {
    url: Url("The base address of its API, such as http://prometheus.monitoring:9090."),
    query: Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        "A query whose result has the requests so far by namespace (label `exported_namespace`, or else `namespace`), such as `sum by (exported_namespace) (nginx_ingress_controller_requests)`. No rate and no increase.",
    }),
    caFile: CaFile,
    tokenFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "A file with a bearer token, read for each query, as it may be renewed; the address must then be https, or http on loopback.",
      }),
    ),
  },
  { description: "A Prometheus that knows the requests, or a server with its API." },
);

export const Activity = Type.Optional(
  closed(
    { ingress: Type.Optional(Ingress), prometheus: Type.Optional(Prometheus) },
    {
      description:
        "Source of the figures of requests to environments: exactly one of `ingress` and `prometheus`. Without one, how much environments are used is unknown.",
    },
  ),
);
type Activity = Static<typeof Activity>;

/** Problems of well-formed settings of activity, each with its path. */
export function activityProblems(activity: Activity | undefined): string[] {
  if (activity === undefined) return [];
  const { ingress, prometheus } = activity;
  if ((ingress === undefined) === (prometheus === undefined)) {
    return ["/activity: requests are counted by exactly one of ingress and prometheus: name one"];
  }
  const addresses: [path: string, url: string][] = (ingress?.urls ?? []).map((url, at) => [`ingress/urls/${at}`, url]);
  if (prometheus !== undefined) addresses.push(["prometheus/url", prometheus.url]);
  const wrong = addresses.filter(([, url]) => !URL.canParse(url));
  if (wrong.length > 0) return wrong.map(([path, url]) => `/activity/${path}: '${url}' is no address`);
  if (prometheus?.tokenFile === undefined || isSafeAddress(new URL(prometheus.url))) return [];
  return ["/activity/prometheus/tokenFile: a token is only sent by https, or by http on loopback: change the url"];
}
