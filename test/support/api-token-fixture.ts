import { type ApiToken, type ApiTokenSpec, tokenOf, tokenTraits } from "../../crds/api-token.ts";
import { API_VERSION } from "../../crds/group.ts";
import { CREATED, UID } from "./environment-fixture.ts";

/** A token of which everything is zeros. */
export const FIXTURE_TOKEN = tokenOf(new Uint8Array(32));

/** What is known of a token, the one of zeros unless said otherwise; a developer's, made at `CREATED`, good for ever. */
export function apiTokenFixture(spec: Partial<ApiTokenSpec> = {}, token = FIXTURE_TOKEN): ApiToken {
  const { tokenHash, id, prefix } = tokenTraits(token);
  return {
    apiVersion: API_VERSION,
    kind: "ApiToken",
    metadata: {
      ...{ name: id, namespace: "ephemeral-system", uid: UID, resourceVersion: "1", creationTimestamp: CREATED },
    },
    spec: {
      ...{ tokenHash, prefix, name: "CI", scopes: ["ENV_CREATE"] },
      owner: { subject: "https://idp.example.test#dev", email: "dev@example.test", name: "Dev" },
      vouched: { groups: ["developers", "shop"], at: CREATED },
      ...spec,
    },
  };
}
