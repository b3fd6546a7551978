/** Settings of deletions, and of the records that remain. */
import { Type } from "typebox";
import { closed, literals } from "../crds/schema.ts";

/** Number beyond which deletions wait for a confirmation: more than the share and more than the minimum. */
const breaker = (defaults: { share: number; atLeast: number }, description: string) =>
  closed(
    {
      share: Type.Number({ minimum: 0, maximum: 1, default: defaults.share, description: "Of all environments." }),
      atLeast: Type.Integer({
        minimum: 0,
        default: defaults.atLeast,
        description: "Up to this number nothing is blocked.",
      }),
    },
    { default: {}, description },
  );

/**
 * https://kubernetes.io/docs/concepts/services-networking/service/#garbage-collecting-load-balancers, and those of
 * clouds and volumes.
 */
const AWAITED_FINALIZERS = [
  "service.kubernetes.io/*",
  "service.k8s.aws/*",
  "ingress.k8s.aws/*",
  "elbv2.k8s.aws/*",
  "networking.gke.io/*",
  "gke.networking.io/*",
  "provisioner.storage.kubernetes.io/*",
  "snapshot.storage.kubernetes.io/*",
];

export const Deletion = closed(
  {
    chartSeconds: Type.Integer({
      minimum: 0,
      default: 60,
      description:
        "How long the deployer may take to delete what a chart made, hooks included; then the platform removes the application, and the namespace with all that is in it.",
    }),
    finalizerSeconds: Type.Integer({
      minimum: 0,
      default: 60,
      description: "How long finalizers may then hold what is in the namespace before the platform removes them.",
    }),
    awaitedFinalizers: Type.Array(Type.String({ minLength: 1, maxLength: 317 }), {
      maxItems: 100,
      default: AWAITED_FINALIZERS,
      description:
        "Finalizers that free something outside the cluster, such as a load balancer: they are waited for and named, until an admin forces the step namespace. One that ends in /* stands for all of that domain.",
    }),
    retainedVolumes: literals(["Delete", "Retain"], {
      default: "Delete",
      description:
        "The reclaim policy that volumes of the class policy Retain get when their environment is deleted. Retain leaves them, with their data, and the record names them. A volume that was there before its claim is always left and named.",
    }),
  },
  { default: {}, description: "What a chart may do to the deletion of its environment: ask for time." },
);

export const Expiry = closed(
  {
    perSecond: Type.Integer({
      minimum: 1,
      default: 500,
      description: "How many due environments are deleted in a second at most, the oldest first.",
    }),
    breaker: breaker(
      { share: 0.5, atLeast: 50 },
      "When more than this are due at the same moment, none is deleted until an admin confirms or fewer are due.",
    ),
  },
  { default: {} },
);

export const Sweep = closed(
  {
    everySeconds: Type.Integer({ minimum: 1, default: 300, description: "How often orphans are looked for." }),
    graceSeconds: Type.Integer({
      minimum: 1,
      default: 600,
      description: "How long an orphan is only reported: since it was first seen, and since it was created.",
    }),
    breaker: breaker(
      { share: 0.1, atLeast: 5 },
      "When orphans of more environments than this are due, none is removed until an admin confirms.",
    ),
  },
  { default: {}, description: "Garbage collection: removes objects of environments that no longer exist." },
);

export const Records = closed(
  {
    atMost: Type.Integer({ minimum: 0, default: 10_000, description: "How many; the oldest are removed." }),
    days: Type.Integer({ minimum: 1, default: 90, description: "How long." }),
  },
  { default: {}, description: "How many records of deleted environments are kept, and how long." },
);
