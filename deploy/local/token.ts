import { addresses } from "./addresses.ts";
import { logInAs } from "./identity/tokens.ts";

const usage = `Usage: token.ts [E-MAIL]

Prints a fresh ID token of an account of identity/accounts.json (default dev@example.test); it lives for an hour.
`;

const [email = "dev@example.test"] = process.argv.slice(2);
if (email === "--help") {
  console.log(usage);
} else {
  try {
    console.log((await logInAs(`http://127.0.0.1:${addresses.identityProviderPort}`, email)).id_token);
  } catch (error) {
    console.error(`${(error as Error).message}. Is the local cluster running? "make up" starts it.`);
    process.exitCode = 1;
  }
}
