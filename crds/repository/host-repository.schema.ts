import { type Static, Type } from "typebox";
import { text } from "../schema.ts";

export const HOST_ID_PATTERN = "^[1-9][0-9]{0,18}$";

/** A repository on its host: its name may become another repository's, its id never. */
export const HostRepository = Type.Object({
  id: text(19, "Id on the host.", { pattern: HOST_ID_PATTERN }),
  fullName: text(200, "Full name on the host.", { minLength: 1 }),
});
export type HostRepository = Static<typeof HostRepository>;

/** A repository as webhooks of a host of the settings have named it: ids are per host. */
export const KnownHostRepository = Type.Object({
  ...HostRepository.properties,
  host: Type.Optional(text(63, "Host's id in the settings; absent where an older release stored it.")),
});
export type KnownHostRepository = Static<typeof KnownHostRepository>;
