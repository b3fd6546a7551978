import { parseArgs } from "node:util";
import { addresses, consoleOrigin } from "../network/addresses.ts";
import { startIdentityProvider } from "./provider.ts";

const { values, positionals } = parseArgs({
  options: { "password-grant": { type: "boolean", default: false } },
  allowPositionals: true,
});
const [stateDir] = positionals;
const provider = await startIdentityProvider({
  port: addresses.identityProviderPort,
  consoleOrigin,
  passwordGrant: values["password-grant"],
  ...(stateDir && { stateDir }),
});
console.log(JSON.stringify({ message: "listening", issuer: provider.issuer }));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => provider.close());
