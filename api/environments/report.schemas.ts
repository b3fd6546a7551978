/** Environments with what goes beyond version 1 of the REST contract. */
import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { Instant } from "../schemas/fields.ts";
import { ENVIRONMENT_EXAMPLE, EnvironmentDetail } from "./schemas.ts";

export const SwitchRequest = closed(
  {
    protected: Type.Optional(Type.Boolean({ description: "Refuses deletion and expiry while true." })),
    suspended: Type.Optional(
      Type.Boolean({ description: "Scales everything to zero while true; secrets and data stay." }),
    ),
  },
  {
    title: "SwitchEnvironmentRequest",
    minProperties: 1,
    "x-refusal": "must say protected, suspended, or both",
    description: "What is left out, or null, stays as it is.",
    examples: [{ suspended: true }],
  },
);

const ConditionReport = closed(
  {
    type: Type.String(),
    status: literals(["True", "False", "Unknown"]),
    reason: Type.String({ description: "Stable, for programs." }),
    message: Type.String({ description: "What is in the way and what to do about it, for people." }),
    last_transition_time: Instant,
  },
  { title: "EnvironmentCondition" },
);

/** A detail with what goes beyond version 1. */
export const EnvironmentReport = closed(
  {
    ...EnvironmentDetail.properties,
    protected: Type.Boolean(),
    suspended: Type.Boolean(),
    conditions: Type.Array(ConditionReport, {
      description:
        "How far each step came; Ready sums them up; Suspended, PipelineSilent and ExpiryRefused are there while so.",
    }),
  },
  {
    title: "EnvironmentReport",
    examples: [
      {
        ...ENVIRONMENT_EXAMPLE,
        protected: false,
        suspended: false,
        conditions: [
          {
            type: "Ready",
            status: "True",
            reason: "Ready",
            message: "Every URL answers",
            last_transition_time: "2026-06-01T12:02:20.000Z",
          },
        ],
      },
    ],
  },
);
export type EnvironmentReport = Static<typeof EnvironmentReport>;
