import { type Static, Type } from "typebox";
import { Chart } from "../crds/repository/repository.schema.ts";
import { closed, described, literals, map, TTL_MAX_HOURS } from "../crds/schema.ts";
import { SleepWish } from "../crds/sleep.schema.ts";
import { Activity } from "./activity.schema.ts";
import { ApiSettings, Host, Port } from "./api-settings.schema.ts";
import { Console } from "./console.schema.ts";
import { Costs } from "./costs.schema.ts";
import { Deletion, Expiry, Records, Sweep } from "./deletion.schema.ts";
import { Gate } from "./gate.schema.ts";
import { Isolation } from "./isolation.schema.ts";
import { NotificationSettings } from "./notifications.schema.ts";
import { SecretManagerChoice, Secrets } from "./secrets.schema.ts";
import { Hosts, Webhooks } from "./webhooks.schema.ts";

const TracingSettings = closed(
  {
    endpoint: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$",
        maxLength: 512,
        description:
          "The address of a collector that speaks OTLP over HTTP, such as http://collector:4318; spans go to /v1/traces below it. Nothing is traced when left out.",
      }),
    ),
    caFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM file of the authority behind the collector's certificate." }),
    ),
    headersFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "A file with headers for the collector, one `name: value` a line, such as a token; the endpoint must then be https, or http on loopback.",
      }),
    ),
    sampleRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description:
        "The part of traces that is recorded. Exceptions: requests whose authenticated caller decided about that in `traceparent`, and reconciles that follow from a recorded request.",
    }),
  },
  { default: {}, description: "Spans of requests, of reconciles and of the calls that they make (OpenTelemetry)." },
);

/** The canary: an environment that the platform makes for itself, to notice that creations fail. */
const Canary = Type.Optional(
  closed(
    {
      repository: Type.String({
        minLength: 1,
        maxLength: 50,
        description: "Name of the backend Repository that it is made of, from its default branch.",
      }),
      everyMinutes: Type.Integer({
        minimum: 5,
        maximum: 10_080,
        default: 60,
        description: "Time between the begins of two canaries.",
      }),
    },
    {
      description:
        "Makes an environment now and then, and deletes it once it is ready or failed: an unused platform would otherwise not notice its own failures. Service levels count it like any other. Off when left out.",
    },
  ),
);

const Audit = closed(
  {
    file: Type.Optional(
      closed(
        {
          path: Type.String({ minLength: 1, description: "The folder must exist, and have room for all files." }),
          maxMegabytes: Type.Integer({
            minimum: 1,
            maximum: 10_000,
            default: 100,
            description: "The size at which a new file begins.",
          }),
          keep: Type.Integer({
            minimum: 1,
            maximum: 1_000,
            default: 10,
            description: "Number of older files that are kept beside it: `.1` is the newest.",
          }),
        },
        { description: "The file beside the standard output." },
      ),
    ),
  },
  {
    default: {},
    description:
      "The audit log is always written to standard output; with `file` also there, and while that can't be written, privileged changes are refused and those of webhooks wait.",
  },
);

const Database = closed(
  {
    image: Type.String({
      minLength: 1,
      maxLength: 400,
      pattern: "^[^\\s@]+$",
      default: "docker.io/library/postgres",
      description: "A PostgreSQL image without its tag; its user `postgres` must have the id 999.",
    }),
    version: Type.String({ maxLength: 32, pattern: "^[0-9]+(\\.[0-9]+)*$", default: "18", description: "The tag." }),
    sizeGi: Type.Integer({ minimum: 1, maximum: 1024, default: 2, description: "The size of the volume." }),
    storageClass: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: "The cluster's default when left out." }),
    ),
    seedSeconds: Type.Integer({
      minimum: 30,
      maximum: 21_600,
      default: 600,
      description: "Time limit of the load of a seed; reconcile.creationDeadlineMinutes has to leave room for it.",
    }),
  },
  { default: {}, description: "The databases of environments; a config set can override it." },
);

/** Traefik serves TLS only with this annotation; the platform's chart allows it. */
const TRAEFIK_TLS = { "traefik.ingress.kubernetes.io/router.tls": "true" };

const Ingress = closed(
  {
    className: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description:
          "`${ingress.className}`: a class that the platform's chart allows; the cluster's default when left out.",
      }),
    ),
    annotations: map(Type.String({ maxLength: 4096 }), {
      maxProperties: 50,
      default: TRAEFIK_TLS,
      description: "`${ingress.annotations}`: annotations that the platform's chart allows.",
    }),
  },
  { default: {}, description: "Settings for the Ingresses of charts with `values`." },
);

/** Settings of an installation; one YAML file, read once at start. */
export const Settings = closed({
  namespace: Type.String({ default: "ephemeral-system", description: "The platform's own namespace." }),
  secretsNamespace: Type.String({
    default: "ephemeral-secrets",
    description: "Namespace of the embedded secret manager's values.",
  }),
  secretManager: SecretManagerChoice,
  serviceAccount: Type.String({ default: "platform", description: "The ServiceAccount that the platform runs as." }),
  baseDomain: Type.String({
    minLength: 1,
    maxLength: 190,
    description: "The domain of the environments' host names, each one label below it.",
  }),
  publicPort: Type.Integer({
    minimum: 1,
    maximum: 65535,
    default: 443,
    description: "The port in the URLs of environments.",
  }),
  ingressAddress: Type.Optional(
    Type.String({
      pattern: "^.+:[0-9]+$",
      description: "host:port that the URL prober connects to instead of resolving.",
    }),
  ),
  ingressCaFile: Type.Optional(
    Type.String({ description: "PEM file of the authority behind the ingress certificate." }),
  ),
  ingress: Ingress,
  publicUrl: Type.Optional(
    Type.String({
      pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$",
      maxLength: 512,
      description: "The address of the REST interface as hosts and users reach it; never taken from a request.",
    }),
  ),
  hosts: Hosts,
  webhooks: Webhooks,
  notifications: NotificationSettings,
  defaultChart: described(
    Chart,
    "The Helm chart of environments whose Repository names none; Argo CD must be able to read it.",
  ),
  defaultConfigSet: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description: "The config set of environments that are created through the REST interface without naming one.",
    }),
  ),
  deployer: closed(
    {
      kind: Type.Literal("argocd", { default: "argocd", description: "Argo CD is the only one." }),
      namespace: Type.String({ default: "argocd", description: "Namespace of Argo CD's applications." }),
      clusterServer: Type.String({
        default: "https://kubernetes.default.svc",
        description: "Argo CD's name of the cluster.",
      }),
    },
    { default: {}, description: "Brings an environment's chart into its namespace." },
  ),
  api: ApiSettings,
  console: Type.Optional(Console),
  audit: Audit,
  probes: closed(
    {
      host: Type.Unsafe<string>({ ...Host, default: "127.0.0.1", description: "The address that is listened at." }),
      port: Type.Unsafe<number>({ ...Port, default: 9090, description: "The port; `/metrics` answers there, too." }),
    },
    { default: {}, description: "Address and port of /livez and /readyz." },
  ),
  isolation: Isolation,
  database: Database,
  costs: Costs,
  secrets: Secrets,
  ttl: closed(
    {
      maximumHours: Type.Integer({
        minimum: 1,
        maximum: TTL_MAX_HOURS,
        default: TTL_MAX_HOURS,
        description: "The longest that an environment lives, extensions included.",
      }),
    },
    { default: {} },
  ),
  sleep: Type.Optional(SleepWish),
  activity: Activity,
  gate: Gate,
  reconcile: closed(
    {
      workers: Type.Integer({
        minimum: 1,
        maximum: 256,
        default: 16,
        description: "Number of environments that are reconciled at the same time.",
      }),
      resyncMinutes: Type.Integer({
        minimum: 1,
        default: 10,
        description: "Interval between reconciles of an unchanged environment.",
      }),
      creationDeadlineMinutes: Type.Integer({
        minimum: 1,
        default: 15,
        description: "Time limit of a creation or an update before the environment is failed.",
      }),
      hookSeconds: Type.Integer({
        minimum: 30,
        default: 900,
        description:
          "Time for which a sync may wait for the chart's hooks, such as a migration, before it is ended and the environment is failed with the hook's name.",
      }),
      probeSeconds: Type.Integer({
        minimum: 5,
        default: 60,
        description: "Interval between requests to the URLs of a ready environment.",
      }),
      downMinutes: Type.Integer({
        minimum: 1,
        default: 5,
        description: "Time for which a URL may be down before the environment is failed.",
      }),
      awakeMinutes: Type.Integer({
        minimum: 0,
        default: 10,
        description:
          "Time for which an environment does not fall asleep after its creation, and after it woke. With 0 its schedule may let it sleep as soon as it is ready.",
      }),
      wakesAtOnce: Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 10,
        description:
          "Number of environments that wake at the same time, by their schedules or by requests; others stay asleep until one of these is awake or failed, and the Repository with the fewest that wake comes next. A person's wake never waits.",
      }),
      stuckMinutes: Type.Integer({
        minimum: 1,
        default: 5,
        description: "Time limit of a step of a deletion before its blockers are reported, and it may be forced.",
      }),
    },
    { default: {} },
  ),
  deletion: Deletion,
  expiry: Expiry,
  sweep: Sweep,
  records: Records,
  tracing: TracingSettings,
  canary: Canary,
  leaderElection: Type.Boolean({
    default: true,
    description:
      "True for the election of the one replica that reconciles. False only where there is a single process.",
  }),
  logLevel: literals(["debug", "info", "warn", "error"], {
    default: "info",
    description: "Level of the log. The one setting that is followed without a restart.",
  }),
});
export type Settings = Static<typeof Settings>;
