import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { WantedSecret } from "../../../crds/repository/repository.ts";
import { Sensitive } from "../../../crds/sensitive.ts";

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Random value of the kind and length, from the system's cryptographic source. */
export function randomSecret({ kind, length }: WantedSecret): Sensitive {
  return new Sensitive(SHAPES[kind](length));
}

const SHAPES = {
  // Letters and digits need no escaping in connection strings and shells.
  password: (length: number) =>
    Array.from({ length }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join(""),
  key: (length: number) => randomBytes(length).toString("base64url").slice(0, length),
  token: (length: number) => randomBytes(length).toString("hex").slice(0, length),
  uuid: () => randomUUID(),
} satisfies Record<WantedSecret["kind"], (length: number) => string>;
