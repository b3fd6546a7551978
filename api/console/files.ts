import { extname, join } from "node:path";
import type { Request, RequestHandler, Response, Router } from "express";
import { HttpError } from "../errors.ts";
import { type StaticFile, sendStatic } from "../http/static-file.ts";
import { otherMethod } from "../http/unrouted.ts";

/** Names of assets contain a hash of their content. */
const FOR_EVER = "public, max-age=31536000, immutable";
/** Browsers revalidate each time, so that a new release is seen at once. */
const REVALIDATED = "no-cache";
/** No leading dot and no slash, so it can't leave the folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/;
/** Compressed files that the build may have left, best first. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

const NOT_BUILT = "The web console is not built here: `make clients` builds it";

/**
 * Only files of the console may be loaded and run. Trusted types forbid markup from text, so no text of an environment
 * is run.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/**
 * Serves the console's files. Every path below `/console/` without a file is a page, and all pages are one document.
 */
export function mountFiles(router: Router, folder: string): void {
  router.get("/console", (_request, response) => response.redirect(308, "/console/"));
  router.use("/console", readOnly, pageHeaders);
  router.get("/console/assets/:name", async (request, response) => {
    if (await sendFrom(join(folder, "assets"), FOR_EVER, request, response)) return;
    throw new HttpError("not-found", "Not found");
  });
  router.get("/console/:name", async (request, response, next) => {
    if (!(await sendFrom(folder, REVALIDATED, request, response))) next();
  });
  router.get("/console/{*page}", async (request, response) => {
    const file = join(folder, "index.html");
    if (!(await sendEncoded({ file, cacheControl: REVALIDATED }, request, response))) {
      throw new HttpError("not-found", NOT_BUILT);
    }
  });
}

const readOnly: RequestHandler = (request, response, next) => {
  if (request.method === "GET" || request.method === "HEAD") next();
  else refuse(request, response, next);
};
const refuse = otherMethod("GET, HEAD");

const pageHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    "Content-Security-Policy": CONTENT_POLICY,
    // Without a referrer, browsers send no origin with a form either.
    "Referrer-Policy": "same-origin",
  });
  next();
};

/** `index.html` has no address of its own. */
async function sendFrom(folder: string, cacheControl: string, request: Request, response: Response): Promise<boolean> {
  const name = String(request.params.name);
  if (!NAME.test(name) || extname(name) === "" || name === "index.html") return false;
  return sendEncoded({ file: join(folder, name), cacheControl }, request, response);
}

async function sendEncoded({ file, cacheControl }: StaticFile, request: Request, response: Response): Promise<boolean> {
  response.vary("Accept-Encoding");
  for (const [encoding, ending] of ENCODINGS) {
    if (request.acceptsEncodings(encoding) !== encoding) continue;
    const compressed = { file: `${file}${ending}`, type: extname(file), headers: { "Content-Encoding": encoding } };
    if (await sendStatic(response, { ...compressed, cacheControl })) return true;
  }
  return sendStatic(response, { file, cacheControl });
}
