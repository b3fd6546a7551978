import { type Static, Type } from "typebox";
import { text } from "../schema.ts";

export const HOST_ID_PATTERN = "^[1-9][0-9]{0,18}$";

/** A repository as its host names it: another repository may get the name later; the id never changes. */
export const HostRepository = Type.Object({
  id: text(19, "Its id on the host.", { pattern: HOST_ID_PATTERN }),
  fullName: text(200, "Its full name on the host.", { minLength: 1 }),
});
export type HostRepository = Static<typeof HostRepository>;
