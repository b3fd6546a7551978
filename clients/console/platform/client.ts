import { createClient } from "../../sdk/index.ts";
import { sendWithSession } from "./session.ts";

/** Client of the platform, by the session of this browser: the page has no token. */
export const platform = createClient({ url: `${location.origin}/console`, fetch: sendWithSession });
