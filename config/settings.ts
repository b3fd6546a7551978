import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { holds, METADATA_RANGES } from "../crds/addresses.ts";
import { KUBERNETES_KEYWORDS } from "../crds/schema.ts";
import { WEB_ORIGIN } from "./api-settings.schema.ts";
import { issuerProblems } from "./issuer-problems.ts";
import { CREDENTIAL_HOST, Settings, USABLE_CIDR } from "./settings.schema.ts";

export type { Settings } from "./settings.schema.ts";

/** The settings are wrong; the message names every violation and where it stands. */
export class SettingsInvalid extends Error {
  override readonly name = "SettingsInvalid";
}

const ajv = new Ajv2020({ strict: true, allErrors: true, useDefaults: true });
ajv.addVocabulary([...KUBERNETES_KEYWORDS]);
ajv.addFormat("cidr", isCidr);
ajv.addFormat(USABLE_CIDR, (text: string) => isCidr(text) && !METADATA_RANGES.some((range) => holds(range, text)));
ajv.addFormat(CREDENTIAL_HOST, isPlainHost);
ajv.addFormat(WEB_ORIGIN, isWebOrigin);
const validate = ajv.compile<Settings>(Settings);

/**
 * Reads the settings file (YAML), fills in the defaults, and freezes the result.
 *
 * @throws SettingsInvalid when the file can't be read, is not YAML, or breaks the schema
 */
export function readSettings(path: string): Settings {
  return settingsFrom(parseFile(path), path);
}

/** The same from a parsed document; `source` is how an error names it. */
export function settingsFrom(document: unknown, source = "settings"): Settings {
  const settings = structuredClone(document ?? {});
  const problems = validate(settings) ? contradictions(settings) : schemaProblems();
  if (problems.length === 0) return deepFreeze(settings as Settings);
  throw new SettingsInvalid(`${source} is not valid:\n  ${problems.join("\n  ")}`);
}

function schemaProblems(): string[] {
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = (params as { additionalProperty?: string }).additionalProperty;
    return `${instancePath || "/"}: ${message}${unknown ? ` ('${unknown}')` : ""}`;
  });
}

/** What the schema can't say: fields that don't go together. */
function contradictions(settings: Settings): string[] {
  return [...issuerProblems(settings.api.issuers), ...sharedCredentials(settings), ...idleProxies(settings)];
}

/** An environment that may refer to a credential of hosts could send it anywhere. */
function sharedCredentials({ secrets }: Settings): string[] {
  const credentials = new Set(secrets.hostCredentials.map(({ id }) => id));
  return secrets.shared.flatMap(({ ids }, rule) =>
    ids
      .filter((id) => credentials.has(id))
      .map((id) => `/secrets/shared/${rule}/ids: '${id}' is one of hostCredentials, which are shared with nobody`),
  );
}

/** Who names proxies wants them believed; without a hop none is. */
function idleProxies({ api }: Settings): string[] {
  if (api.trustedProxies.length === 0 || api.trustedProxyHops > 0) return [];
  return ["/api/trustedProxies: no proxy is believed while trustedProxyHops is 0; say how many requests pass through"];
}

function isCidr(text: string): boolean {
  const [address = "", prefix = "", ...more] = text.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  return bits !== undefined && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && more.length === 0;
}

/** Whether it is spelt as the host of a URL is: so that it is compared with one letter by letter. */
function isPlainHost(text: string): boolean {
  const url = `https://${text}`;
  return !text.includes("*") && URL.canParse(url) && new URL(url).host === text;
}

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Whether a browser would send it letter by letter, for pages that nobody can change on their way. */
function isWebOrigin(text: string): boolean {
  if (text.includes("*") || !URL.canParse(text)) return false;
  const { protocol, hostname, origin } = new URL(text);
  return origin === text && (protocol === "https:" || (protocol === "http:" && LOOPBACK.includes(hostname)));
}

function parseFile(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new SettingsInvalid(`${path} can't be read: ${(cause as Error).message}`, { cause });
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
