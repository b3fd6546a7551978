import { type Static, Type } from "typebox";
import { FURTHER_HOST_MAX_LENGTH, FURTHER_HOST_PATTERN, NAME_MAX_LENGTH, RESERVED_FURTHER_HOSTS } from "../names.ts";
import { rules, text } from "../schema.ts";
import { HEALTH_PATH_PATTERN } from "./health-path.ts";

/** Bounds the probes of each environment. */
export const FURTHER_HOSTS_MAX = 10;

const reserved = RESERVED_FURTHER_HOSTS.map((name) => `'${name}'`).join(", ");

const FurtherHost = Type.Object({
  name: text(
    FURTHER_HOST_MAX_LENGTH,
    `Part of the host after the environment's name: https://<environment>--<name>.<base domain>. Lower-case letters, digits and hyphens, at most ${FURTHER_HOST_MAX_LENGTH}: a label of DNS has 63, and the name of an environment up to ${NAME_MAX_LENGTH}.`,
    {
      pattern: `^${FURTHER_HOST_PATTERN}$`,
      ...rules({
        rule: `!(self in [${reserved}])`,
        message: `is reserved, as are ${RESERVED_FURTHER_HOSTS.join(", ")}: the platform's own hosts are called so`,
      }),
    },
  ),
  healthPath: Type.Optional(
    text(
      255,
      "The path that answers with 2xx or 3xx when the host is ready, without a log-in. Until it does, the environment is not ready, as with healthPath of a component.",
      { pattern: HEALTH_PATH_PATTERN, default: "/" },
    ),
  ),
});
export type FurtherHost = Static<typeof FurtherHost>;

/** Hosts of a Repository's environments beside the components'. */
export const FurtherHosts = Type.Array(FurtherHost, {
  maxItems: FURTHER_HOSTS_MAX,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  description:
    "Further hosts that its environments answer at, such as that of a dashboard; only of a backend. The chart's Ingress or HTTPRoute has to serve each: its values name it by ${hosts.<name>}.",
});
