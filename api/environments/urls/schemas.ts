import { type Static, type TSchema, Type } from "typebox";
import { closed, literals, map } from "../../../crds/schema.ts";
import { Instant, titled } from "../../schemas/fields.ts";

const URL_STATUSES = ["healthy", "unhealthy", "unreachable"] as const;

const UrlHealth = closed(
  {
    url: Type.String({ format: "uri" }),
    status: literals(URL_STATUSES, {
      description: "healthy: 2xx or 3xx; unhealthy: another answer; unreachable: none within 5 seconds.",
    }),
    response_time_ms: Type.Integer({ minimum: 0, description: "0 for a URL that nothing serves yet." }),
  },
  titled("UrlHealth", { url: "https://shop-test.example.test", status: "healthy", response_time_ms: 21 }),
);

const components = { backend: UrlHealth, frontend: Type.Optional(UrlHealth) };
const checkOf = <T extends TSchema>(details: T) => ({
  environment_id: Type.String(),
  status: literals(URL_STATUSES, {
    description: "healthy when all are, unreachable when none answered, else unhealthy.",
  }),
  details,
  checked_at: Type.String({
    ...Instant,
    description: "Time of the probes; the results are answered for 10 seconds.",
  }),
});
const DETAILS_EXAMPLE = {
  backend: { url: "https://shop-test--api.example.test", status: "healthy", response_time_ms: 12 },
  frontend: { url: "https://shop-test.example.test", status: "unhealthy", response_time_ms: 8 },
};
const CHECK_EXAMPLE = {
  environment_id: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
  status: "unhealthy",
  details: DETAILS_EXAMPLE,
  checked_at: "2026-06-01T12:03:00.000Z",
};

export const UrlCheckReply = closed(checkOf(closed(components)), titled("UrlCheck", CHECK_EXAMPLE));
export type UrlCheckReply = Static<typeof UrlCheckReply>;

/** Check in version 2. */
export const UrlCheckReportReply = closed(
  checkOf(
    closed({
      ...components,
      hosts: Type.Optional(
        map(UrlHealth, { description: "The further hosts of the backend's repository, by name; absent without any." }),
      ),
    }),
  ),
  titled("UrlCheckReport", {
    ...CHECK_EXAMPLE,
    details: {
      ...DETAILS_EXAMPLE,
      hosts: { admin: { url: "https://shop-test--admin.example.test", status: "healthy", response_time_ms: 9 } },
    },
  }),
);
export type UrlCheckReportReply = Static<typeof UrlCheckReportReply>;
