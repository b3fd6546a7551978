/** How an environment's URLs answer, as the REST contract words it. */
import { type Static, Type } from "typebox";
import { closed, literals } from "../../../crds/schema.ts";
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

export const UrlCheckReply = closed(
  {
    environment_id: Type.String(),
    status: literals(URL_STATUSES, {
      description: "healthy when all are, unreachable when none answered, else unhealthy.",
    }),
    details: closed({
      backend: UrlHealth,
      frontend: Type.Optional(UrlHealth),
    }),
    checked_at: Type.String({
      ...Instant,
      description: "When the URLs were probed; the results are answered for 10 seconds.",
    }),
  },
  titled("UrlCheck", {
    environment_id: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
    status: "unhealthy",
    details: {
      backend: { url: "https://shop-test--api.example.test", status: "healthy", response_time_ms: 12 },
      frontend: { url: "https://shop-test.example.test", status: "unhealthy", response_time_ms: 8 },
    },
    checked_at: "2026-06-01T12:03:00.000Z",
  }),
);
export type UrlCheckReply = Static<typeof UrlCheckReply>;
