import { identityFolder } from "./folders.ts";
import { signedIdToken } from "./identity/tokens.ts";
import { localIssuer } from "./network/addresses.ts";

const usage = `Usage: token.ts [E-MAIL]

Prints a fresh ID token of an account of identity/accounts.json (default dev@example.test); it lives for an hour. It is signed with the
identity provider's key, so it needs the right to read .local/identity-provider.
`;

const [email = "dev@example.test"] = process.argv.slice(2);
if (email === "--help") {
  console.log(usage);
} else {
  try {
    console.log(await signedIdToken(identityFolder, localIssuer, email));
  } catch (error) {
    console.error(`${(error as Error).message}. "make up" starts the identity provider, which makes the key.`);
    process.exitCode = 1;
  }
}
