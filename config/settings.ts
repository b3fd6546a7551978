import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { holds, isSafeAddress, METADATA_RANGES } from "../crds/addresses.ts";
import { defaultChartProblem } from "../crds/repository/chart-source.ts";
import { valuesProblem } from "../crds/repository/values-mapping.ts";
import { KUBERNETES_KEYWORDS } from "../crds/schema.ts";
import { credentialIds } from "../crds/secret-sharing.ts";
import { activityProblems } from "./activity.schema.ts";
import { WEB_ORIGIN } from "./api-settings.schema.ts";
import { consoleProblems } from "./console-problems.ts";
import { gateProblems } from "./gate.schema.ts";
import { USABLE_CIDR } from "./isolation.schema.ts";
import { issuerProblems } from "./issuer-problems.ts";
import { notificationProblems } from "./notification-problems.ts";
import { CREDENTIAL_HOST } from "./secrets.schema.ts";
import { Settings } from "./settings.schema.ts";
import { API_URL } from "./webhooks.schema.ts";

export type { Settings } from "./settings.schema.ts";

/** The settings are wrong; the message names every violation with its path. */
export class SettingsInvalid extends Error {
  override readonly name = "SettingsInvalid";
}

// Used once, so the code is not optimized; a unit test checks the schema itself.
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  useDefaults: true,
  validateSchema: false,
  code: { optimize: false },
});
ajv.addVocabulary([...KUBERNETES_KEYWORDS]);
ajv.addFormat("cidr", isCidr);
ajv.addFormat(USABLE_CIDR, (text: string) => isCidr(text) && !METADATA_RANGES.some((range) => holds(range, text)));
ajv.addFormat(CREDENTIAL_HOST, isPlainHost);
ajv.addFormat(WEB_ORIGIN, isWebOrigin);
ajv.addFormat(API_URL, isApiUrl);
const validate = ajv.compile<Settings>(Settings);

/**
 * Reads the settings file (YAML), fills in the defaults, and freezes the result.
 *
 * @throws SettingsInvalid when the file can't be read, is not YAML, or breaks the schema
 */
export function readSettings(path: string): Settings {
  return settingsFrom(parseFile(path), path);
}

/** Reads the settings from a parsed document; errors name it by `source`. */
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

function contradictions(settings: Settings): string[] {
  return [
    ...issuerProblems(settings.api.issuers),
    ...consoleProblems(settings.console, settings),
    ...sharedCredentials(settings),
    ...idleProxies(settings),
    ...repeatedHosts(settings),
    ...notificationProblems(settings),
    ...activityProblems(settings.activity),
    ...gateProblems(settings.gate),
    ...exposedHeaders(settings),
    ...unusableChart(settings),
    ...unreadableValues(settings),
  ];
}

function unusableChart({ defaultChart }: Settings): string[] {
  const found = defaultChartProblem(defaultChart);
  return found === undefined ? [] : [`/defaultChart${found.field}: ${found.problem}`];
}

function unreadableValues({ defaultChart }: Settings): string[] {
  const problem = valuesProblem(defaultChart);
  return problem === undefined ? [] : [`/defaultChart/values: ${problem}`];
}

/** A credential of the platform must not be shared with environments: they could send it anywhere. */
function sharedCredentials(settings: Settings): string[] {
  const credentials = credentialIds(settings);
  return settings.secrets.shared.flatMap(({ ids }, rule) =>
    ids
      .filter((id) => credentials.has(id))
      .map(
        (id) =>
          `/secrets/shared/${rule}/ids: '${id}' is a credential of hosts, of messages or of the console, or a key of webhooks, which are never shared`,
      ),
  );
}

/** Headers for a collector are credentials. */
function exposedHeaders({ tracing: { endpoint, headersFile } }: Settings): string[] {
  if (endpoint === undefined || headersFile === undefined || isSafeAddress(new URL(endpoint))) return [];
  return ["/tracing/headersFile: headers are only sent by https, or by http on loopback: change the endpoint"];
}

/** Trusted proxies without a hop are a mistake: none of them would be believed. */
function idleProxies({ api }: Settings): string[] {
  if (api.trustedProxies.length === 0 || api.trustedProxyHops > 0) return [];
  return ["/api/trustedProxies: no proxy is believed while trustedProxyHops is 0; say how many requests pass through"];
}

/** Repositories name a host by its id. */
function repeatedHosts({ hosts }: Settings): string[] {
  const ids = hosts.map(({ id }) => id);
  return ids.flatMap((id, at) =>
    ids.indexOf(id) < at ? [`/hosts/${at}/id: '${id}' is the id of another host, too`] : [],
  );
}

function isCidr(text: string): boolean {
  const [address = "", prefix = "", ...more] = text.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  return bits !== undefined && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && more.length === 0;
}

/** True for the spelling of a parsed URL, with which it is compared letter by letter. */
function isPlainHost(text: string): boolean {
  const url = `https://${text}`;
  return !text.includes("*") && URL.canParse(url) && new URL(url).host === text;
}

/** Tokens are sent there. */
function isApiUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isSafeAddress(url) && url.username + url.password + url.search + url.hash === "";
}

/** True when browsers send it in exactly this form, for pages that can't be changed on their way. */
function isWebOrigin(text: string): boolean {
  if (text.includes("*") || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.origin === text && isSafeAddress(url);
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
