import type { Request } from "express";
import { HttpError } from "../errors.ts";

/**
 * Checks that a page of the console sent the request. Browsers state the origin, and no page can forge it; SameSite
 * alone would admit pages of other hosts of the domain, such as environments.
 *
 * @param origin the console's own
 * @throws HttpError (forbidden)
 */
export function checkSameOrigin({ headersDistinct }: Request, origin: string): void {
  const site = headersDistinct["sec-fetch-site"];
  const isOwn = site === undefined ? isOnly(headersDistinct.origin, origin) : isOnly(site, "same-origin");
  if (!isOwn) throw new HttpError("forbidden", "Only pages of the console itself may ask for this");
}

const isOnly = (sent: readonly string[] | undefined, expected: string) => sent?.length === 1 && sent[0] === expected;
