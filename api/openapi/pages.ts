import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Express, RequestHandler, Response } from "express";
import helmet from "helmet";
import { sendStatic } from "../http/static-file.ts";
import { otherMethod } from "../http/unrouted.ts";
import type { Limits } from "../limits/limits.ts";
import { listRoutes } from "../routes.ts";
import { openApiDocument } from "./document.ts";

const require = createRequire(import.meta.url);
const swaggerFolder = dirname(require.resolve("swagger-ui-dist/package.json"));

const ASSETS: Readonly<Record<string, string>> = {
  "/docs/swagger-ui.css": join(swaggerFolder, "swagger-ui.css"),
  "/docs/swagger-ui-bundle.js": join(swaggerFolder, "swagger-ui-bundle.js"),
};
/** Answers of the interface are never cached; these may be. */
const ASSET_CACHE = "public, max-age=3600";

const redocFile = require.resolve("redoc/bundles/redoc.standalone.js");
/**
 * Changes of Redoc's script without an option: it writes styles before it has the nonce, and loads another host's logo.
 */
const REDOC_AMENDMENTS: readonly (readonly [from: string, to: string])[] = [
  ["r.nc=void 0", 'r.nc=document.getElementById("redoc").dataset.nonce'],
  ["https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,"],
];

/**
 * Files, so that the policy can forbid inline scripts. Addresses are relative, because an ingress may serve the
 * platform below a path prefix.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  "/docs/start.js":
    'SwaggerUIBundle({ url: new URL("openapi.json", location).href, dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null });',
  "/redoc/start.js":
    'const root = document.getElementById("redoc"); Redoc.init(new URL("openapi.json", location).href, { hideLogo: true, nonce: root.dataset.nonce }, root);',
};

/** Serves `/openapi.json`, `/docs` (Swagger UI) and `/redoc` publicly, offline, under a strict policy. */
export function mountDocs(app: Express, limits: Limits): void {
  const limited: RequestHandler = async (request, response, next) => {
    await limits.documentation(request, response);
    next();
  };
  const serve = (path: string, ...handlers: RequestHandler[]) => {
    const route = app
      .route(path)
      .all(limited)
      .get(...handlers);
    route.all(otherMethod("GET, HEAD"));
  };
  serve("/openapi.json", unslashed, (_request, response) => void response.type("json").send(documentText()));
  serve("/docs", unslashed, contentPolicy({}), (_request, response) => void response.type("html").send(swaggerPage()));
  serve("/redoc", unslashed, withNonce, contentPolicy(REDOC_NEEDS), (_request, response) => {
    response.type("html").send(redocPage(nonceOf(response)));
  });
  for (const [path, file] of Object.entries(ASSETS)) serve(path, asset(file));
  serve("/redoc/redoc.standalone.js", redocScript);
  for (const [path, script] of Object.entries(SCRIPTS)) {
    serve(path, (_request, response) => void response.type("js").send(script));
  }
}

let text: string | undefined;

function documentText(): string {
  text ??= JSON.stringify(openApiDocument(listRoutes()));
  return text;
}

function asset(file: string): RequestHandler {
  return async (_request, response) => {
    if (!(await sendStatic(response, { file, cacheControl: ASSET_CACHE }))) throw new Error(`${file} is missing`);
  };
}

const redocScript: RequestHandler = async (_request, response) => {
  const script = await readFile(redocFile, "utf8");
  const amended = REDOC_AMENDMENTS.reduce((text, [from, to]) => text.replace(from, () => to), script);
  response.set("Cache-Control", ASSET_CACHE).type("js").send(amended);
};

type Directives = Record<string, Iterable<string | ((request: unknown, response: unknown) => string)>>;

/** Redoc searches in a worker from a blob, and writes styles into the page, marked with the nonce. */
const REDOC_NEEDS: Directives = {
  styleSrc: ["'self'", (_request, response) => `'nonce-${nonceOf(response as Response)}'`],
  workerSrc: ["'self'", "blob:"],
};

function contentPolicy(more: Directives): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      fontSrc: ["'self'"],
      styleSrc: ["'self'"],
      workerSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      ...more,
    },
  });
}

/** Relative addresses would lead elsewhere from a path with a last slash. */
const unslashed: RequestHandler = (request, response, next) =>
  request.path.endsWith("/") ? response.redirect(308, `..${request.path.slice(0, -1)}`) : next();

const withNonce: RequestHandler = (_request, response, next) => {
  response.locals.nonce = randomBytes(16).toString("base64");
  next();
};

const nonceOf = (response: Response): string => String(response.locals.nonce);

const page = (body: string, head = "") =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Ephemeral Environment Platform API</title><link rel="icon" href="data:,">${head}</head><body>${body}</body></html>\n`;

const swaggerPage = () =>
  page(
    '<div id="swagger-ui"></div><script src="docs/swagger-ui-bundle.js"></script><script src="docs/start.js"></script>',
    '<link rel="stylesheet" href="docs/swagger-ui.css">',
  );

const redocPage = (nonce: string) =>
  page(
    `<div id="redoc" data-nonce="${nonce}"></div><script src="redoc/redoc.standalone.js"></script><script src="redoc/start.js"></script>`,
  );
