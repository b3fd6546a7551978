/** `make clients`: the command line, as one file, and the web console. */
import { buildClients } from "./build.ts";

await buildClients((name) => console.log(`made ${name}`));
