import express, { type Express, type RequestHandler } from "express";
import helmet from "helmet";
import type { AuditTrail } from "../operator/ports/audit-trail.ts";
import type { Clock } from "../operator/ports/clock.ts";
import type { IdentityProvider } from "../operator/ports/facade/identity-provider.ts";
import type { Log } from "../operator/ports/log.ts";
import type { UrlProber } from "../operator/ports/url-prober.ts";
import { createPasswordResets } from "./account/password-resets.ts";
import { auditedOf } from "./audit.ts";
import { authenticator } from "./auth/credentials.ts";
import { createUrlChecks } from "./environments/urls/url-checks.ts";
import { cors } from "./http/cors.ts";
import { createEventStreams } from "./http/event-streams.ts";
import { trustedProxy } from "./http/trusted-proxies.ts";
import { refuseAmbiguous, refusePath, refuseUndecodable } from "./http/unrouted.ts";
import { createLimits, hourlyTally } from "./limits/limits.ts";
import { mount, problemHandler } from "./mount.ts";
import { mountDocs } from "./openapi/pages.ts";
import { createRepositoryQuotas } from "./repositories/repository-quotas.ts";
import { currentRequestId, inRequestScope, requestIdFrom } from "./request-context.ts";
import type { Services } from "./route.ts";
import { listRoutes } from "./routes.ts";

/** What the interface is built from; only its own clockwork is made here. */
export interface AppParts extends Omit<Services, "stopping" | "urlChecks" | "quotas" | "passwordResets"> {
  /** Who sends links for new passwords, if somebody does. */
  readonly identityProvider?: IdentityProvider | undefined;
  readonly prober: UrlProber;
  /** Aborted when the process starts to stop; without it the app is ready for ever. */
  readonly stopping?: AbortSignal;
  /** Where it is written down who did what. */
  readonly audit: AuditTrail;
}

/** The REST interface as an Express application: no listening, no state but rate counters and issuers' keys. */
export function createApp(parts: AppParts): Express {
  const stopping = parts.stopping ?? new AbortController().signal;
  const passwordResets = createPasswordResets({
    ...{ provider: parts.identityProvider, perHour: parts.settings.api.limits.passwordResetsPerHour },
    ...{ tally: hourlyTally("passwordResetOf", parts), log: parts.log, stopping },
  });
  const made = { urlChecks: createUrlChecks(parts), quotas: createRepositoryQuotas(parts), passwordResets };
  const platform: Services = { ...parts, ...made, stopping };
  const { log, audit } = parts;
  const limits = createLimits(platform.settings.api.limits, parts);
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", trustedProxy(platform.settings.api));
  app.set("case sensitive routing", true);
  app.set("query parser", false);
  const admission = { limits, log, authenticate: authenticator(platform) };
  app.use(identify, secureHeaders(), cors(platform.settings.api.corsOrigins), accessLog(log, platform.clock));
  app.use(refuseAmbiguous(admission));
  mountDocs(app, limits);
  mount(app, listRoutes(), { ...admission, platform, audit, streams: createEventStreams(platform) });
  app.use(refusePath(admission), refuseUndecodable(admission), problemHandler({ platform, log, audit }));
  return app;
}

const identify: RequestHandler = (request, response, next) => {
  const id = requestIdFrom(request.get("x-request-id"));
  response.set("X-Request-ID", id);
  inRequestScope(id, next);
};

/** An interface for programs: nothing it answers may be kept, framed or run, whatever a browser takes it for. */
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

/** One line a request, written when it is over: changes and refusals always, reads where details are wanted. */
function accessLog(log: Log, clock: Clock): RequestHandler {
  return (request, response, next) => {
    const startedMs = clock.monotonicMs();
    const requestId = currentRequestId();
    response.once("close", () => {
      const { contract, caller, concerns } = auditedOf(response);
      const isRead = contract?.method === "get" && response.statusCode < 400;
      log[isRead ? "debug" : "info"]("request answered", {
        requestId,
        method: request.method,
        route: contract?.path,
        status: response.writableEnded ? response.statusCode : "cut off",
        subject: caller?.subject,
        concerns,
        durationMs: Math.round(clock.monotonicMs() - startedMs),
      });
    });
    next();
  };
}
