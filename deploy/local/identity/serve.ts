import { addresses } from "../addresses.ts";
import { startIdentityProvider } from "../identity-provider.ts";

const [stateDir] = process.argv.slice(2);
const provider = await startIdentityProvider({ port: addresses.identityProviderPort, ...(stateDir && { stateDir }) });
console.log(JSON.stringify({ message: "listening", issuer: provider.issuer }));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => provider.close());
