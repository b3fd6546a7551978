import { identityFolder } from "./folders.ts";
import { signedIdToken } from "./identity/tokens.ts";
import { localIssuer } from "./network/addresses.ts";

/** ID tokens of the accounts in documentation and tests, by the names of shell variables. */
export async function userTokens() {
  const token = (email: string) => signedIdToken(identityFolder, localIssuer, email);
  return {
    ID_TOKEN: await token("dev@example.test"),
    OTHER_ID_TOKEN: await token("other@example.test"),
    ADMIN_ID_TOKEN: await token("admin@example.test"),
  };
}
