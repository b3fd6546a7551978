import { describe, expect, test } from "@jest/globals";
import { crc32c } from "../../../../../operator/adapters/google/secret-calls.ts";

/** RFC 3720, appendix B.4, and the check value of the catalogues. */
const cases: readonly { name: string; given: Uint8Array; expected: number }[] = [
  { name: "nothing", given: Buffer.from(""), expected: 0 },
  { name: "the check value", given: Buffer.from("123456789"), expected: 0xe3069283 },
  { name: "32 zeros", given: Buffer.alloc(32), expected: 0x8a9136aa },
  { name: "32 ones", given: Buffer.alloc(32, 0xff), expected: 0x62a8ab43 },
  { name: "32 ascending bytes", given: Buffer.from(Array.from({ length: 32 }, (_, i) => i)), expected: 0x46dd794e },
];

describe("crc32c", () => {
  test.each(cases)("of $name", ({ given, expected }) => {
    expect(crc32c(given)).toBe(expected);
  });
});
