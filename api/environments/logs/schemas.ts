import { type Static, Type } from "typebox";
import { COMPONENTS } from "../../../crds/names.ts";
import { closed, literals } from "../../../crds/schema.ts";
import { Instant, orNull, titled } from "../../schemas/fields.ts";
import { EnvironmentPath } from "../schemas.ts";

export const DEFAULT_LINES = 100;
const LOG_COMPONENTS = [...COMPONENTS, "argocd"] as const;

/** Days, hours, minutes and seconds, in this order, each optional and with an optional fraction. */
const DURATION_PATTERN = `^${["d", "h", "m", "s"].map((unit) => `([0-9]{1,5}([.][0-9]{1,3})?${unit})?`).join("")}$`;

export const LogPath = closed({
  ...EnvironmentPath.properties,
  component: literals(LOG_COMPONENTS, {
    description: "argocd: the deployer's report on the environment's application.",
  }),
});
export const FollowPath = closed({
  ...EnvironmentPath.properties,
  component: literals(COMPONENTS, { description: "Component of the pods." }),
});

export const LogQuery = closed({
  lines: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: DEFAULT_LINES, description: "Number of the newest lines." }),
  ),
  since: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 20,
      pattern: DURATION_PATTERN,
      "x-refusal": "must be a duration such as 1d, 1h, 30m, 45s, 1h30m or 1.5h",
      description: "Nothing older than this, a duration such as 1d, 1h, 30m or 1.5h.",
      examples: ["1h", "30m"],
    }),
  ),
});
export type LogQuery = Static<typeof LogQuery>;

/** A workload as for kubectl: a kind in any case and a name, or a name alone. */
const WORKLOAD_PATTERN = "^([A-Za-z]{1,63}/)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$";

/** Query of version 2. */
export const LogReportQuery = closed({
  ...LogQuery.properties,
  workload: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 317,
      pattern: WORKLOAD_PATTERN,
      "x-refusal": "must be the name of a workload, or its kind and name such as StatefulSet/redis",
      description:
        "The pods of this workload instead of the component's, whichever component they are of: its name, or its kind and name where several kinds have one of that name.",
      examples: ["StatefulSet/redis"],
    }),
  ),
});
export type LogReportQuery = Static<typeof LogReportQuery>;

export const FollowHeaders = closed({
  "Last-Event-ID": Type.Optional(
    Type.String({
      format: "date-time",
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{9}Z$",
      "x-refusal": "must be the id of an event of this stream",
      description:
        "The id of the last event that the client has: the stream goes on after it, with what was written meanwhile, the last 1000 lines at most, whatever `lines` and `since` say.",
      examples: ["2026-06-01T12:03:00.123456789Z"],
    }),
  ),
});

export const LogEntry = closed(
  {
    timestamp: Instant,
    level: Type.String({ description: "TRACE, DEBUG, INFO, WARN, ERROR or FATAL; INFO where the line names none." }),
    message: Type.String({ description: "Values of the environment's secrets are masked as ***." }),
  },
  titled("LogEntry", { timestamp: "2026-06-01T12:03:00.000Z", level: "INFO", message: "listening on 8080" }),
);
export type LogEntry = Static<typeof LogEntry>;

const LOGS_EXAMPLE = {
  component: "backend",
  logs: [
    { timestamp: "2026-06-01T12:03:00.000Z", level: "INFO", message: "listening on 8080" },
    { timestamp: "2026-06-01T12:03:07.120Z", level: "ERROR", message: "no connection to the database" },
  ],
  total_lines: 2,
};

export const LogReply = closed(
  {
    component: literals(LOG_COMPONENTS),
    logs: Type.Array(LogEntry, {
      description: "The oldest first; of all pods and containers, and of the runs before.",
    }),
    total_lines: Type.Integer({ minimum: 0, description: "Number of entries in this answer." }),
  },
  titled("EnvironmentLogs", LOGS_EXAMPLE),
);

/** Reply of version 2. */
export const LogReportReply = closed(
  {
    ...LogReply.properties,
    workload: orNull(Type.String(), "Requested workload, as kind/name; null: the component."),
  },
  titled("EnvironmentLogsReport", { ...LOGS_EXAMPLE, workload: null }),
);
