/** Confinement of an environment's namespace: quotas, limits, and the network. */
import { type Static, Type } from "typebox";
import { QUANTITY_PATTERN } from "../crds/quantity.ts";
import { closed, literals } from "../crds/schema.ts";

const Quantity = (byDefault: string, description: string) =>
  Type.String({ pattern: QUANTITY_PATTERN, default: byDefault, description });
const Quantities = (defaults: Record<string, string>, description: string) =>
  Type.Record(Type.String(), Type.String({ pattern: QUANTITY_PATTERN }), { default: defaults, description });

const LabelSelector = closed({
  matchLabels: Type.Optional(Type.Record(Type.String(), Type.String())),
  matchExpressions: Type.Optional(
    Type.Array(
      closed({
        key: Type.String({ minLength: 1 }),
        operator: literals(["In", "NotIn", "Exists", "DoesNotExist"]),
        values: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  ),
});
/** Format of a block of addresses that pods may reach; its name is the text of the error. */
export const USABLE_CIDR = "cidr beyond the metadata addresses of clouds";
const Cidr = Type.String({ format: "cidr" });
/** No pod may reach the metadata addresses of clouds; they are excluded from a greater block. */
const UsableCidr = Type.String({ format: USABLE_CIDR });
const peerWith = (cidr: typeof Cidr) =>
  closed(
    {
      ipBlock: Type.Optional(closed({ cidr, except: Type.Optional(Type.Array(Cidr)) })),
      namespaceSelector: Type.Optional(LabelSelector),
      podSelector: Type.Optional(LabelSelector),
    },
    { minProperties: 1, title: "NetworkPolicyPeer" },
  );
/** Addresses, or pods of namespaces: https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/. */
const Peer = peerWith(Cidr);
export type Peer = Static<typeof Peer>;
const EgressPeer = peerWith(UsableCidr);

/** The quota needs the defaults of containers: with the quota alone, pods that request nothing would be refused. */
const EphemeralStorage = closed(
  {
    quota: Quantity("60Gi", "The sum of the requests of all pods, and the sum of their limits."),
    defaultRequest: Quantity(
      "0",
      "For a container that requests none. More than 0 needs nodes that report local storage.",
    ),
    defaultLimit: Quantity("2Gi", "For a container that has no limit: a pod that exceeds it is evicted."),
  },
  {
    default: {},
    description: "Limit of containers' writes on their node: their file system, their logs, emptyDir volumes.",
  },
);

export const Isolation = closed(
  {
    quota: Quantities(
      {
        "requests.cpu": "4",
        "requests.memory": "8Gi",
        "limits.memory": "16Gi",
        "requests.storage": "20Gi",
        pods: "30",
        "services.loadbalancers": "0",
        "services.nodeports": "0",
      },
      "Limit of all pods and volumes of an environment together, as a ResourceQuota has it.",
    ),
    defaultRequest: Quantities({ cpu: "50m", memory: "64Mi" }, "For a container that requests none."),
    defaultLimit: Quantities({ memory: "512Mi" }, "For a container that has no limit."),
    objects: Quantities(
      {
        "count/services": "30",
        "count/configmaps": "60",
        "count/serviceaccounts": "30",
        "count/persistentvolumeclaims": "20",
        "count/deployments.apps": "30",
        "count/statefulsets.apps": "30",
        "count/replicasets.apps": "500",
        "count/controllerrevisions.apps": "500",
        "count/jobs.batch": "200",
        "count/cronjobs.batch": "30",
        "count/ingresses.networking.k8s.io": "30",
        "count/httproutes.gateway.networking.k8s.io": "30",
        "count/horizontalpodautoscalers.autoscaling": "30",
        "count/poddisruptionbudgets.policy": "30",
      },
      "Limit of objects of each kind that a chart can create, or that Kubernetes creates for those.",
    ),
    ephemeralStorage: EphemeralStorage,
    priorityClasses: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      default: [],
      uniqueItems: true,
      description:
        "PriorityClasses that pods may have; any other is refused. Where the cluster has one with `globalDefault: true`, which every pod gets, it has to be among them.",
    }),
    ingressFrom: Type.Array(Peer, {
      default: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }],
      description: "NetworkPolicy peers of the ingress controller.",
    }),
    dns: Type.Array(Peer, {
      default: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }],
      description: "NetworkPolicy peers that answer DNS.",
    }),
    egressTo: Type.Array(EgressPeer, {
      default: [],
      description:
        "Further NetworkPolicy peers that pods may reach. Never among them: the metadata addresses of clouds, other environments, the platform; nor private addresses, unless the block is private itself.",
    }),
  },
  { default: {} },
);
