import { type Static, Type } from "typebox";
import { TTL_MAX_HOURS } from "../crds/environment/ttl.ts";
import { QUANTITY_PATTERN } from "../crds/quantity.ts";
import { ChartSource } from "../crds/repository/repository.schema.ts";
import { closed, literals, SECRET_ID_PATTERN } from "../crds/schema.ts";
import { SharingRule } from "../crds/secret-sharing.ts";
import { ApiSettings, Host, Port } from "./api-settings.schema.ts";

const Quantity = (byDefault: string, description: string) =>
  Type.String({ pattern: QUANTITY_PATTERN, default: byDefault, description });
const Quantities = (defaults: Record<string, string>, description?: string) =>
  Type.Record(Type.String(), Type.String({ pattern: QUANTITY_PATTERN }), {
    default: defaults,
    ...(description === undefined ? {} : { description }),
  });

const Audit = closed(
  {
    file: Type.Optional(
      closed({
        path: Type.String({ minLength: 1, description: "Its folder has to be there, and room for all files." }),
        maxMegabytes: Type.Integer({
          minimum: 1,
          maximum: 10_000,
          default: 100,
          description: "At this size a new file is begun.",
        }),
        keep: Type.Integer({
          minimum: 1,
          maximum: 1_000,
          default: 10,
          description: "Older files beside it: `.1` is the youngest.",
        }),
      }),
    ),
  },
  {
    default: {},
    description:
      "Who did what is always written to standard output; with `file` also there, and while that can't be written, what is privileged is refused.",
  },
);

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
/** The format of a block of addresses that pods may be let into; its name is what a refusal says. */
export const USABLE_CIDR = "cidr beyond the metadata addresses of clouds";
const Cidr = Type.String({ format: "cidr" });
/** No pod may reach them; of a greater block they are left out. */
const UsableCidr = Type.String({ format: USABLE_CIDR });
const peerWith = (cidr: typeof Cidr) =>
  closed(
    {
      ipBlock: Type.Optional(closed({ cidr, except: Type.Optional(Type.Array(Cidr)) })),
      namespaceSelector: Type.Optional(LabelSelector),
      podSelector: Type.Optional(LabelSelector),
    },
    { minProperties: 1 },
  );
/** https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/: addresses, or pods of namespaces. */
const Peer = peerWith(Cidr);
export type Peer = Static<typeof Peer>;
const EgressPeer = peerWith(UsableCidr);

/** The quota and what containers get that say nothing belong together: with the one alone their pods would be refused. */
const EphemeralStorage = closed(
  {
    quota: Quantity("60Gi", "What all pods together may request, and what their limits may be together."),
    defaultRequest: Quantity(
      "0",
      "Of a container that requests none. More than 0 needs nodes that report local storage.",
    ),
    defaultLimit: Quantity("2Gi", "Of a container that has no limit: beyond it the pod is evicted."),
  },
  { default: {}, description: "What containers write on their node: their file system, their logs, emptyDir volumes." },
);

const Isolation = closed(
  {
    quota: Quantities({
      "requests.cpu": "4",
      "requests.memory": "8Gi",
      "limits.memory": "16Gi",
      "requests.storage": "20Gi",
      pods: "30",
      "services.loadbalancers": "0",
      "services.nodeports": "0",
    }),
    defaultRequest: Quantities({ cpu: "50m", memory: "64Mi" }),
    defaultLimit: Quantities({ memory: "512Mi" }),
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
      "How many objects there may be of what a chart can make, and of what Kubernetes makes of those.",
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

/** How many at once are too many to be meant: more than both say. */
const breaker = (defaults: { share: number; atLeast: number }, description: string) =>
  closed(
    {
      share: Type.Number({ minimum: 0, maximum: 1, default: defaults.share, description: "Of all environments." }),
      atLeast: Type.Integer({ minimum: 0, default: defaults.atLeast, description: "So many are never too many." }),
    },
    { default: {}, description },
  );

const Expiry = closed(
  {
    perSecond: Type.Integer({
      minimum: 1,
      default: 500,
      description: "When many are due at once, so many go in a second, the oldest first.",
    }),
    breaker: breaker(
      { share: 0.5, atLeast: 50 },
      "When more than this are due at the same moment, none goes until an admin confirms or fewer are due.",
    ),
  },
  { default: {} },
);

const Sweep = closed(
  {
    everySeconds: Type.Integer({ minimum: 1, default: 300 }),
    graceSeconds: Type.Integer({
      minimum: 1,
      default: 600,
      description:
        "How long what no environment owns is only reported: since it was first seen, and since it was made.",
    }),
    breaker: breaker(
      { share: 0.1, atLeast: 5 },
      "When the leftovers of more environments than this are due, none is removed until an admin confirms.",
    ),
  },
  { default: {}, description: "Looks for what belongs to environments that are no more, and removes it." },
);

/** Which secret manager keeps the values of environments; not to be changed while there are any. */
const SecretManagerChoice = Type.Union(
  [
    closed({ kind: Type.Literal("embedded") }, { description: "Kubernetes Secrets in `secretsNamespace`." }),
    closed(
      {
        kind: Type.Literal("google"),
        project: Type.String({
          pattern: "^[a-z][a-z0-9-]{4,28}[a-z0-9]$",
          description: "The Google Cloud project that holds the secrets, by its id; best one of its own.",
        }),
        locations: Type.Optional(
          Type.Array(Type.String({ pattern: "^[a-z0-9-]+$" }), {
            uniqueItems: true,
            description: "Regions that hold the values, such as europe-west3; without any, Google chooses.",
          }),
        ),
        writesPerSecond: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: "Of a replica, 8 unless said; Google admits 600 a minute to a project.",
          }),
        ),
      },
      { description: "Google Secret Manager, with the credentials that the pod's identity has." },
    ),
  ],
  { default: { kind: "embedded" } },
);

const Database = closed(
  {
    image: Type.String({
      minLength: 1,
      maxLength: 400,
      pattern: "^[^\\s@]+$",
      default: "docker.io/library/postgres",
      description: "A PostgreSQL image without its tag; its user `postgres` has the number 999.",
    }),
    version: Type.String({ maxLength: 32, pattern: "^[0-9]+(\\.[0-9]+)*$", default: "18", description: "The tag." }),
    sizeGi: Type.Integer({ minimum: 1, maximum: 1024, default: 2 }),
    storageClass: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: "The cluster's default one when left out." }),
    ),
  },
  { default: {}, description: "The databases of environments, where their config set does not say otherwise." },
);

/** The format of a host that credentials may be sent to; its name is what a refusal says. */
export const CREDENTIAL_HOST = "host in lower case, with its port unless that is 443, and without wildcards";

/**
 * Which secrets are credentials of hosts, and of which. Said here and not by Repositories: who may write those could
 * have any secret sent to a host of his own.
 */
const HostCredential = closed({
  id: Type.String({ minLength: 1, maxLength: 255, pattern: SECRET_ID_PATTERN }),
  hosts: Type.Array(Type.String({ format: CREDENTIAL_HOST, maxLength: 260 }), {
    minItems: 1,
    description: "Git hosts and image registries, such as git.example.com; docker.io is Docker Hub.",
  }),
});

/** Everything that differs between installations; one YAML file, read once at start. */
export const Settings = closed({
  namespace: Type.String({ default: "ephemeral-system", description: "The platform's own namespace." }),
  secretsNamespace: Type.String({
    default: "ephemeral-secrets",
    description: "Where the embedded secret manager keeps values.",
  }),
  secretManager: SecretManagerChoice,
  serviceAccount: Type.String({ default: "platform" }),
  baseDomain: Type.String({ minLength: 1, maxLength: 190, description: "Environments answer one label below it." }),
  publicPort: Type.Integer({ minimum: 1, maximum: 65535, default: 443, description: "Port in the URLs people get." }),
  ingressAddress: Type.Optional(
    Type.String({
      pattern: "^.+:[0-9]+$",
      description: "host:port that the URL prober connects to instead of resolving.",
    }),
  ),
  ingressCaFile: Type.Optional(
    Type.String({ description: "PEM file of the authority behind the ingress certificate." }),
  ),
  defaultChart: ChartSource,
  defaultConfigSet: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description: "The config set of environments that the REST interface makes and whose makers name none.",
    }),
  ),
  deployer: closed(
    {
      kind: Type.Literal("argocd", { default: "argocd" }),
      namespace: Type.String({ default: "argocd", description: "Where Argo CD keeps its applications." }),
      clusterServer: Type.String({
        default: "https://kubernetes.default.svc",
        description: "How Argo CD names the cluster.",
      }),
    },
    { default: {}, description: "Brings an environment's chart into its namespace." },
  ),
  api: ApiSettings,
  audit: Audit,
  probes: closed(
    {
      host: Type.Unsafe<string>({ ...Host, default: "127.0.0.1" }),
      port: Type.Unsafe<number>({ ...Port, default: 9090 }),
    },
    { default: {}, description: "Where /livez and /readyz are served." },
  ),
  isolation: Isolation,
  database: Database,
  secrets: closed(
    {
      shared: Type.Array(SharingRule, {
        default: [],
        description:
          "Secrets of the secret manager that environments may refer to, and the environments of whom; a caller of the REST interface has to be of such a group, too.",
      }),
      hostCredentials: Type.Array(HostCredential, {
        default: [],
        description:
          "Secrets of the secret manager that Repositories may name as credentials, each `user:password`, and the hosts that they are sent to: no others.",
      }),
    },
    { default: {} },
  ),
  ttl: closed(
    { maximumHours: Type.Integer({ minimum: 1, maximum: TTL_MAX_HOURS, default: TTL_MAX_HOURS }) },
    { default: {} },
  ),
  reconcile: closed(
    {
      workers: Type.Integer({ minimum: 1, maximum: 256, default: 16 }),
      resyncMinutes: Type.Integer({ minimum: 1, default: 10 }),
      creationDeadlineMinutes: Type.Integer({ minimum: 1, default: 15 }),
      probeSeconds: Type.Integer({ minimum: 5, default: 60 }),
      downMinutes: Type.Integer({
        minimum: 1,
        default: 5,
        description: "How long a URL may be down before the environment is failed.",
      }),
      stuckMinutes: Type.Integer({
        minimum: 1,
        default: 5,
        description: "How long a step of a deletion may take before what holds it is named, and it may be forced.",
      }),
    },
    { default: {} },
  ),
  expiry: Expiry,
  sweep: Sweep,
  records: closed(
    { atMost: Type.Integer({ minimum: 0, default: 10_000 }), days: Type.Integer({ minimum: 1, default: 90 }) },
    { default: {}, description: "How much is remembered of environments that are no more." },
  ),
  leaderElection: Type.Boolean({ default: true }),
  logLevel: literals(["debug", "info", "warn", "error"], { default: "info" }),
});
export type Settings = Static<typeof Settings>;
