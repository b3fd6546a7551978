import { join } from "node:path";
import express, { type Express, type Request, type RequestHandler } from "express";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { ConsoleSecrets } from "../../operator/ports/secret-manager.ts";
import type { Authenticator } from "../auth/credentials.ts";
import { HttpError } from "../errors.ts";
import { sendStatic } from "../http/static-file.ts";
import { otherMethod } from "../http/unrouted.ts";
import type { Limits } from "../limits/limits.ts";
import type { Services } from "../services.ts";
import { mountAuth } from "./auth-pages.ts";
import { mountFiles } from "./files.ts";
import { type ConsoleSettings, consoleIssuer } from "./issuer.ts";
import { keyRing } from "./keys.ts";
import { HOME, type Login } from "./log-in.ts";
import { createRefresher } from "./refresher.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { createSeal } from "./seal.ts";
import { createSessions, type Sessions, type StoredSession } from "./sessions.ts";

/** Folder of the built clients, in checkout and image. */
export const CLIENTS_FOLDER = join(import.meta.dirname, "../../clients");

export interface ConsoleParts extends Pick<Services, "settings" | "clock" | "log" | "randomBytes"> {
  readonly limits: Limits;
  readonly authenticate: Authenticator["authenticate"];
  readonly consoleSecrets: ConsoleSecrets;
  readonly clientsFolder: string;
}

/** True for paths of the console and the command line's program, without rules for other origins (CORS). */
export function isConsolePath(path: string): boolean {
  return ["/", "/cli", "/console"].includes(path) || path.startsWith(HOME);
}

/**
 * Serves the command line's program and, by the settings, the web console: its files, log-in, and its pages' path to
 * the REST interface, which has to be mounted behind. Each request but those to the interface counts by its address.
 */
export function mountConsole(app: Express, parts: ConsoleParts): void {
  const { limits, settings, clientsFolder } = parts;
  const limited: RequestHandler = async (request, response, next) => {
    await limits.page(request, response);
    next();
  };
  const cli = app.route("/cli").all(limited);
  cli.get(commandLine(join(clientsFolder, "cli/dist/eenv.mjs")));
  cli.all(otherMethod("GET, HEAD"));
  if (settings.console === undefined) return;

  const issuer = issuerOf(settings.console, parts);
  const keys = keyRing(parts.consoleSecrets, { current: settings.console.keyVersion, clock: parts.clock });
  const seals = { keys, randomBytes: parts.randomBytes };
  const sessions = createSessions({ ...parts, seal: createSeal<StoredSession>({ ...seals, purpose: "session 1" }) });
  app.use(consoleApi({ origin: settings.console.publicUrl, sessions, limits }));
  app.get("/", async (request, response, next) => {
    if (request.accepts(["json", "html"]) !== "html") return next();
    await limits.page(request, response);
    response.vary("Accept").redirect(303, HOME);
  });
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use("/console", limited);
  mountAuth(router, {
    ...parts,
    settings: settings.console,
    issuer,
    sessions,
    seal: createSeal<Login>({ ...seals, purpose: "login 1" }),
    refresh: createRefresher({ issuer, clock: parts.clock }),
    callerOf: (idToken) => callerOf(idToken, parts),
  });
  mountFiles(router, join(clientsFolder, "console/dist"));
  app.use(router);
}

function issuerOf(settings: ConsoleSettings, { consoleSecrets: secrets, clock, log, ...parts }: ConsoleParts) {
  // The settings are checked: one issuer exists.
  const issuer = settings.issuer ?? parts.settings.api.issuers[0]?.issuer ?? "";
  return consoleIssuer({ settings, issuer, secrets, clock, log });
}

/** Throws HttpError (unavailable). */
async function callerOf(idToken: Sensitive, { authenticate }: ConsoleParts) {
  const headersDistinct = { authorization: [`Bearer ${idToken.reveal()}`] };
  const result = await authenticate({ method: "GET", headersDistinct }, () => false);
  if (result.state === "caller") return result.caller;
  return { detail: (result.state === "refused" ? result.detail : undefined) ?? "Invalid or expired credentials" };
}

function commandLine(file: string): RequestHandler {
  const headers = { "Content-Disposition": 'attachment; filename="eenv.mjs"' };
  return async (_request, response) => {
    if (await sendStatic(response, { file, cacheControl: "no-cache", headers })) return;
    throw new HttpError("not-found", "The command line is not built here: `make clients` builds it");
  };
}

/** Prefix of the REST interface for the console's pages. */
const BEFORE = "/console/api/";
const PREFIX = "/console";

interface ConsoleApiOptions {
  /** The console's own. */
  readonly origin: string;
  readonly sessions: Sessions;
  readonly limits: Limits;
}

/**
 * Turns a request of the console's pages into one to the REST interface, with the session's ID token. The interface
 * itself takes no cookie.
 */
function consoleApi({ origin, sessions, limits }: ConsoleApiOptions): RequestHandler {
  return async (request, response, next) => {
    if (!request.url.startsWith(BEFORE)) return next();
    try {
      checkSameOrigin(request, origin);
    } catch (error) {
      await limits.page(request, response);
      throw error;
    }
    const session = await sessions.read(request);
    replaceHeader(request, "cookie");
    replaceHeader(request, "authorization", session && `Bearer ${session.idToken.reveal()}`);
    request.url = request.url.slice(PREFIX.length);
    next();
  };
}

/** Node computes `headersDistinct` once. */
function replaceHeader({ headers, headersDistinct }: Request, name: string, value?: string): void {
  delete headers[name];
  delete headersDistinct[name];
  if (value === undefined) return;
  headers[name] = value;
  headersDistinct[name] = [value];
}
