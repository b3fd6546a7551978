import { type Static, Type } from "typebox";
import { closed } from "../../../crds/schema.ts";
import { orNull, titled } from "../../schemas/fields.ts";

const Workload = closed(
  {
    kind: Type.String({ description: "As the chart has it: a Deployment, not its ReplicaSet." }),
    name: Type.String(),
    component: orNull(
      Type.String(),
      "Component of its pods: backend, frontend, or a backing service such as database; null: none of them.",
    ),
    pods_desired: orNull(
      Type.Integer({ minimum: 0 }),
      "Desired number of pods; of a Job the number that have to succeed, of a CronJob the number that run now; null: of a kind that the platform does not know.",
    ),
    pods_ready: Type.Integer({
      minimum: 0,
      description: "Number of ready pods; of a Job the number that succeeded.",
    }),
    restarts: Type.Integer({
      minimum: 0,
      description: "Restarts of containers of its current pods.",
    }),
    images: Type.Array(Type.String(), { description: "The images of its pods, as it names them." }),
    problem: orNull(Type.String(), "Problem and remedy; null: no problem is known."),
  },
  titled("Workload", {
    kind: "Deployment",
    name: "shop-api",
    component: "backend",
    pods_desired: 2,
    pods_ready: 1,
    restarts: 3,
    images: ["registry.example.com/shop/shop-api:9f2c1d4e"],
    problem:
      "container 'app' of image 'registry.example.com/shop/shop-api:9f2c1d4e' ends soon after every start (exit code 1): fix the cause in its last lines, and deploy the new commit or setting",
  }),
);
export type WorkloadReport = Static<typeof Workload>;

export const WorkloadsReply = closed({
  workloads: Type.Array(Workload, {
    description: "Workloads of the backend first, then those of the frontend, by kind and name.",
  }),
});
