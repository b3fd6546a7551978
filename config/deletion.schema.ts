import { Type } from "typebox";
import { closed, literals } from "../crds/schema.ts";

/** Number beyond which deletions wait for a confirmation: more than the share and more than the minimum. */
const deletionBudget = (defaults: { share: number; atLeast: number }, description: string) =>
  closed(
    {
      share: Type.Number({
        minimum: 0,
        maximum: 1,
        default: defaults.share,
        description: "Share of all environments.",
      }),
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
        "Time that the deployer has to delete the chart's objects, hooks included; then the platform removes the application, and the namespace with everything in it.",
    }),
    finalizerSeconds: Type.Integer({
      minimum: 0,
      default: 60,
      description:
        "Time for which finalizers may then hold objects of the namespace that are being deleted before the platform removes them.",
    }),
    awaitedFinalizers: Type.Array(Type.String({ minLength: 1, maxLength: 317 }), {
      maxItems: 100,
      default: AWAITED_FINALIZERS,
      description:
        "Finalizers that free something outside the cluster, such as a load balancer: the platform waits for them and names them, until an admin forces the step namespace. One that ends in /* covers all of that domain.",
    }),
    retainedVolumes: literals(["Delete", "Retain"], {
      default: "Delete",
      description:
        "The reclaim policy that volumes of the class policy Retain get when their environment is deleted. Retain leaves them, with their data, and the record names them. A volume that was there before its claim is always left and named.",
    }),
  },
  { default: {}, description: "Time that a chart may request for the deletion of its environment." },
);

export const Expiry = closed(
  {
    perSecond: Type.Integer({
      minimum: 1,
      default: 500,
      description: "Limit of due environments that are deleted in a second, the oldest first.",
    }),
    deletionBudget: deletionBudget(
      { share: 0.5, atLeast: 50 },
      "Limit of simultaneously due environments: beyond it none is deleted until an admin confirms or fewer are due.",
    ),
  },
  { default: {} },
);

export const Sweep = closed(
  {
    everySeconds: Type.Integer({ minimum: 1, default: 300, description: "Interval of the search for orphans." }),
    graceSeconds: Type.Integer({
      minimum: 1,
      default: 600,
      description: "Time for which an orphan is only reported: since its first sighting, and since its creation.",
    }),
    deletionBudget: deletionBudget(
      { share: 0.1, atLeast: 5 },
      "Limit of environments with due orphans: beyond it none is removed until an admin confirms.",
    ),
  },
  { default: {}, description: "Garbage collection: removes objects of environments that no longer exist." },
);

export const Records = closed(
  {
    atMost: Type.Integer({ minimum: 0, default: 10_000, description: "Limit; the oldest are removed." }),
    days: Type.Integer({ minimum: 1, default: 90, description: "Time to keep them." }),
  },
  { default: {}, description: "Number and age of the kept records of deleted environments." },
);
