import { ABSENT, type Routes } from "./recording-host.ts";

export interface HookAttempt {
  readonly id: number;
  readonly guid: string;
  readonly delivered_at: string;
  readonly status_code: number;
}

/** GitHub's hooks of a repository and their logs, the newest attempt first. */
export interface HookLog {
  readonly hooks: { readonly id: number; readonly config: { readonly url: string } }[];
  readonly attempts: HookAttempt[];
  /** Attempts with a requested redelivery. */
  readonly repeated: number[];
}

/** The page size of the log, whatever the request. */
const PAGE = 3;

/** The called routes of https://docs.github.com/en/rest/repos/webhooks, for the hook 1. */
export function hookLogRoutes({ hooks, attempts, repeated }: HookLog): Routes {
  return [
    [/^GET \/repos\/shop\/[^/]+\/hooks\?per_page=100$/, () => ({ status: 200, body: hooks })],
    [
      /^GET \/repos\/shop\/[^/]+\/hooks\/1\/deliveries\?(.*)$/,
      (_call, [query]) => {
        const from = Number(new URLSearchParams(query).get("cursor")?.replace("v1_", "") ?? 0);
        const next =
          from + PAGE < attempts.length ? `<https://elsewhere.test/x?cursor=v1_${from + PAGE}>; rel="next"` : "";
        const link = [`<https://elsewhere.test/x?cursor=v1_0>; rel="prev"`, next].filter(Boolean).join(", ");
        return { status: 200, headers: { link }, body: attempts.slice(from, from + PAGE) };
      },
    ],
    [
      /^POST \/repos\/shop\/[^/]+\/hooks\/1\/deliveries\/(\d+)\/attempts$/,
      (_call, [id]) => {
        if (!attempts.some((attempt) => attempt.id === Number(id))) return ABSENT;
        repeated.push(Number(id));
        return { status: 202, body: {} };
      },
    ],
  ];
}
