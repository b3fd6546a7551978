import { type ApiToken, tokenState } from "../../crds/api-token.ts";
import type { TokenRecord } from "./schemas.ts";

/** Record of a token; never its value. */
export function toTokenRecord(token: ApiToken, now: Date): TokenRecord {
  const { metadata, spec, status } = token;
  return {
    id: metadata.name,
    name: spec.name,
    description: spec.description ?? "",
    scopes: [...spec.scopes],
    token_prefix: spec.prefix,
    status: tokenState(token, now),
    created_at: timestamp(metadata.creationTimestamp),
    expires_at: maybe(spec.expiresAt),
    last_used_at: maybe(status?.lastUsedAt),
    revoked_at: maybe(spec.revokedAt),
    owner: { email: spec.owner.email, name: spec.owner.name },
  };
}

const timestamp = (moment: string) => new Date(moment).toISOString();
const maybe = (moment: string | undefined) => (moment === undefined ? null : timestamp(moment));
