/** `make clients`: builds the command line and the web console. */
import { buildClients } from "./build.ts";

await buildClients((name) => console.log(`made ${name}`));
