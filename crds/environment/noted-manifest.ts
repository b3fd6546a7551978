import { isDeepStrictEqual } from "node:util";
import { digestOf, sha256 } from "../digest.ts";
import { RENEW_ANNOTATION } from "../group.ts";
import { isJsonObject } from "../json.ts";
import { present } from "../present.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { writtenFromGit } from "./managed-by.ts";
import type { ManifestStatus, NotedManifest } from "./manifest.schema.ts";
import { partOf, specFields } from "./owned-fields.ts";

/** Length of the status field; longer values are cut. */
const RENEW_MAX_LENGTH = 128;
const SWITCHES = ["ttlHours", "protected", "protectedUntil", "suspended"] as const;

/**
 * The manifest that the GitOps tool last sent, without later writes of other field managers; `undefined` when the tool
 * wrote none of the spec.
 *
 * @param environment freshly read, with its `managedFields`
 * @param former the earlier note; stays without a newer write of the tool
 */
export function noteManifest(
  environment: EphemeralEnvironment,
  former: ManifestStatus | undefined,
): ManifestStatus | undefined {
  const written = writtenFromGit(environment);
  const fields = specFields(written);
  if (Object.keys(fields).length === 0) return former;
  const writtenAt =
    written
      .map(({ time = "" }) => time)
      .sort()
      .at(-1) ?? "";
  const fieldsHash = digestOf(canonical(fields), 12);
  // A field taken over by another manager moves no time: the earlier note is what the tool sent. With the same fields
  // it may be a write in the same second.
  if (former?.writtenAt === writtenAt && former.fieldsHash !== fieldsHash) return former;
  const sent = partOf(environment.spec, fields) as Partial<EphemeralEnvironment["spec"]>;
  const { ttlHours: _, protected: __, protectedUntil: ___, suspended: ____, ...others } = sent;
  return {
    specHash: sha256(canonical(others)),
    switches: switchesOf(sent, environment, former),
    ...renewal(environment),
    writtenAt,
    fieldsHash,
    ...keptOf(former),
  };
}

/** The noted manifest with the current annotation, whose change alone is no write of the spec. */
export function withRenewal(noted: ManifestStatus, environment: EphemeralEnvironment): ManifestStatus {
  const { renew: _, ...others } = noted;
  return { ...others, ...renewal(environment) };
}

/** True when two manifests request the same environment. */
export function sameManifest(one: NotedManifest, other: NotedManifest): boolean {
  return isDeepStrictEqual(recorded(one), recorded(other));
}

/** The recorded part of a manifest. */
export function recorded({ specHash, switches, renew }: NotedManifest): NotedManifest {
  return { specHash, switches, ...present({ renew }) };
}

function renewal({ metadata }: EphemeralEnvironment): Pick<NotedManifest, "renew"> {
  const value = metadata.annotations?.[RENEW_ANNOTATION];
  return value === undefined ? {} : { renew: value.slice(0, RENEW_MAX_LENGTH) };
}

/** A switch that the REST interface replaced keeps the manifest's value. */
function switchesOf(
  sent: Partial<EphemeralEnvironment["spec"]>,
  { spec }: EphemeralEnvironment,
  former: ManifestStatus | undefined,
): NotedManifest["switches"] {
  const values = SWITCHES.map((field) => {
    const isReplaced = sent[field] === undefined && spec[field] !== undefined;
    return [field, isReplaced ? former?.switches[field] : sent[field]] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function keptOf(former: ManifestStatus | undefined): Pick<ManifestStatus, "refusedAfter" | "builtFrom"> {
  const { refusedAfter, builtFrom } = former ?? {};
  return present({ refusedAfter, builtFrom });
}

/** JSON with sorted keys: the API server promises no order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isJsonObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
