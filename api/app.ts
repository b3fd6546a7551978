import express, { type Express, type RequestHandler } from "express";
import helmet from "helmet";
import type { Tracing } from "../operator/kit/tracing.ts";
import type { IdentityProvider } from "../operator/ports/api/identity-provider.ts";
import type { AuditTrail } from "../operator/ports/audit-trail.ts";
import type { ConsoleSecrets } from "../operator/ports/secret-manager.ts";
import type { UrlProber } from "../operator/ports/url-prober.ts";
import { createPasswordResets } from "./account/password-resets.ts";
import { authenticator } from "./auth/credentials.ts";
import { CLIENTS_FOLDER, isConsolePath, mountConsole } from "./console/mount.ts";
import { createHourlyRates } from "./costs/hourly-rates.ts";
import { createUrlChecks } from "./environments/urls/url-checks.ts";
import { accessLog } from "./http/access-log.ts";
import { cors } from "./http/cors.ts";
import { createEventStreams } from "./http/event-streams.ts";
import { trustedProxy } from "./http/trusted-proxies.ts";
import { malformedPath, notFound, rejectAmbiguousHeaders } from "./http/unrouted.ts";
import { createLimits, hourlyCount } from "./limits/limits.ts";
import { errorHandler, mount } from "./mount.ts";
import { createMemo } from "./observability/memo.ts";
import { watchedUsageParts } from "./observability/usage-parts.ts";
import { mountDocs } from "./openapi/pages.ts";
import { createRepositoryQuotas } from "./repositories/repository-quotas.ts";
import { requestIdFrom, runRequest } from "./request-context.ts";
import { listRoutes } from "./routes.ts";
import type { Services } from "./services.ts";

/** Parts that the API is built from. */
export interface AppParts
  extends Omit<Services, "stopping" | "urlChecks" | "quotas" | "passwordResets" | "memo" | "hourlyRates"> {
  /** Sends links for new passwords; without it they are answered 503. */
  readonly identityProvider?: IdentityProvider | undefined;
  readonly prober: UrlProber;
  /** Aborted when the process begins to stop; default: never. */
  readonly stopping?: AbortSignal;
  readonly audit: AuditTrail;
  readonly consoleSecrets: ConsoleSecrets;
  /** Folder of the built console and command line; by default the checkout's or the image's. */
  readonly clientsFolder?: string;
  readonly tracing?: Tracing;
}

/**
 * REST interface as an Express application: no listening, no state but rate counters and keys of issuers and the
 * console.
 */
export function createApp(given: AppParts): Express {
  const parts = { ...given, stopping: given.stopping ?? new AbortController().signal };
  const { settings, audit } = parts;
  const memo = createMemo({ ...parts, usageParts: watchedUsageParts(parts) });
  const services: Services = {
    ...parts,
    urlChecks: createUrlChecks(parts),
    quotas: createRepositoryQuotas(parts),
    memo,
    hourlyRates: createHourlyRates({ ...parts, memo }),
    passwordResets: createPasswordResets(parts, hourlyCount("passwordResetOf", parts)),
  };
  const limits = createLimits(settings.api.limits, parts);
  const { authenticate, isAuthentic } = authenticator(services);
  const auth = { limits, authenticate };
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", trustedProxy(settings.api));
  app.set("case sensitive routing", true);
  app.set("query parser", false);
  app.use(
    identify,
    secureHeaders(),
    cors(settings.api.corsOrigins, { except: isConsolePath }),
    accessLog({ ...parts, isAuthentic }),
  );
  app.use(rejectAmbiguousHeaders(auth));
  mountConsole(app, { ...parts, ...auth, clientsFolder: parts.clientsFolder ?? CLIENTS_FOLDER });
  mountDocs(app, limits);
  mount(app, listRoutes(), { ...auth, services, audit, streams: createEventStreams(services) });
  app.use(notFound(auth), malformedPath(auth), errorHandler({ services, audit }));
  return app;
}

const identify: RequestHandler = (request, response, next) => {
  const requestId = requestIdFrom(request.get("x-request-id"));
  response.set("X-Request-ID", requestId);
  runRequest({ requestId, address: request.ip }, next);
};

/** Headers for programs: no answer may be cached, framed or run. */
function secureHeaders(): RequestHandler[] {
  const headers = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  });
  return [
    headers,
    (_request, response, next) => {
      response.set("Cache-Control", "no-store");
      next();
    },
  ];
}
