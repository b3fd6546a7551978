import { createClient } from "../../clients/sdk/index.ts";
import { ownDeveloper } from "./identity.ts";
import { site } from "./site.ts";

/** The platform through its typed client, as the file's own developer. */
export const platform = createClient({ url: site.apiUrl, token: ownDeveloper });
