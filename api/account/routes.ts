import { route } from "../route.ts";
import { CurrentUser } from "./schemas.ts";
import { toCurrentUser } from "./views.ts";

/** Who the credential makes of the caller, and what they may do. */
const currentUser = route({
  method: "get",
  path: "/api/auth/user",
  operationId: "getCurrentUser",
  summary: "Current user info",
  description: "Who the credential makes of the caller, and what they may do with it.",
  tag: "account",
  access: "authenticated",
  rate: "caller",
  envelope: "always",
  reply: CurrentUser,
  refusals: [],
})(({ caller }) => toCurrentUser(caller));

export const accountRoutes = [currentUser] as const;
