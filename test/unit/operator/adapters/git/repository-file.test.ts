import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "@jest/globals";
import type { HttpClient } from "isomorphic-git";
import { BadGitAnswer } from "../../../../../operator/adapters/git/packets.ts";
import { readFile } from "../../../../../operator/adapters/git/repository-file.ts";
import { FileUnreadable } from "../../../../../operator/ports/repository-host.ts";

const TYPES = { commit: 1, tree: 2, blob: 3, difference: 7 } as const;
type Type = keyof typeof TYPES;

const SEED = "SELECT 1;\n";
const url = "https://git.test/shop.git";

const packet = (payload: string | Buffer) => {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
};
const FLUSH = Buffer.from("0000");
const hashOf = (type: string, content: Buffer) =>
  createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
const entry = (mode: string, name: string, hash: string) =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(hash, "hex")]);

interface Said {
  readonly type?: Type;
  readonly size?: number;
  readonly count?: number;
  readonly packed?: Buffer;
}

/** A pack with that object, as far as the host tells the truth. */
function packOf(type: Type, content: Buffer, said: Said = {}): Buffer {
  const size = said.size ?? content.length;
  const header = [(TYPES[said.type ?? type] << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    header[header.length - 1] = (header.at(-1) ?? 0) | 0x80;
    header.push(rest & 127);
  }
  const start = Buffer.alloc(8);
  start.writeUInt32BE(2, 0);
  start.writeUInt32BE(said.count ?? 1, 4);
  const packed = said.packed ?? deflateSync(content);
  return Buffer.concat([Buffer.from("PACK"), start, Buffer.from(header), packed, Buffer.alloc(20)]);
}

const answerWith = (pack: Buffer) =>
  Buffer.concat([packet("packfile\n"), packet(Buffer.concat([Buffer.from([1]), pack])), FLUSH]);

const blob = Buffer.from(SEED);
const blobHash = hashOf("blob", blob);
let folder: Buffer;
let commit: string;
let answers: Map<string, Buffer>;
let requested: string[];

/** A repository whose folder `seed` has these entries. */
function repositoryOf(entries: readonly Buffer[]): void {
  folder = Buffer.concat(entries);
  const folderHash = hashOf("tree", folder);
  const root = entry("40000", "seed", folderHash);
  const text = Buffer.from(`tree ${hashOf("tree", root)}\nauthor a\n\nBegin\n`);
  commit = hashOf("commit", text);
  answers = new Map([
    [commit, answerWith(packOf("commit", text))],
    [hashOf("tree", root), answerWith(packOf("tree", root))],
    [folderHash, answerWith(packOf("tree", folder))],
    [blobHash, answerWith(packOf("blob", blob))],
  ]);
}

beforeEach(() => {
  requested = [];
  repositoryOf([entry("100644", "data.sql", blobHash)]);
});

const discovery = Buffer.concat([packet("version 2\n"), packet("fetch=shallow filter\n"), FLUSH]);

const http: HttpClient = {
  async request({ method = "GET", body }) {
    const question = Buffer.concat(await Array.fromAsync(body ?? [])).toString();
    const name = /want ([0-9a-f]+)/.exec(question)?.[1] ?? "";
    if (method === "POST") requested.push(name);
    const answer = method === "GET" ? discovery : (answers.get(name) ?? FLUSH);
    const headers = { "content-type": "application/x-git-upload-pack-advertisement" };
    return {
      url,
      method,
      statusCode: 200,
      statusMessage: "OK",
      headers,
      body: (async function* () {
        yield answer;
      })(),
    };
  },
};

const read = (path = "seed/data.sql") => readFile({ http, url }, { commit, path });

async function refusal(path?: string): Promise<Error> {
  const error = await read(path).catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(Error);
  return error as Error;
}

describe("a file of a repository", () => {
  test("is requested for object by object, on its way alone", async () => {
    expect((await read()).toString()).toBe(SEED);
    expect(requested).toHaveLength(4);
  });

  test.each([
    ["a link", "120000"],
    ["another repository", "160000"],
    ["a folder", "40000"],
  ])("is none where %s has its name", async (_what, mode) => {
    repositoryOf([entry(mode, "data.sql", blobHash)]);
    const error = await refusal();
    expect(error).toBeInstanceOf(FileUnreadable);
    expect(error).toMatchObject({ reason: "absent", message: "has no plain file at 'seed/data.sql'" });
  });

  test("may be in a folder whose mode has a leading zero", async () => {
    repositoryOf([entry("0100644", "data.sql", blobHash)]);
    expect((await read()).toString()).toBe(SEED);
  });

  test("may be one that programs can run", async () => {
    repositoryOf([entry("100644", "data", blobHash), entry("100755", "data.sql", blobHash)]);
    expect((await read()).toString()).toBe(SEED);
  });
});

describe("a host that lies", () => {
  const evil = Buffer.from("DROP TABLE;");
  test.each<[what: string, answer: () => Buffer, words: RegExp]>([
    ["with other content", () => answerWith(packOf("blob", evil)), /another object/],
    ["with a folder", () => answerWith(packOf("tree", folder)), /a tree in place of a blob/],
    ["with two objects", () => answerWith(packOf("blob", blob, { count: 2 })), /2 objects in place of one/],
    ["with a difference", () => answerWith(packOf("blob", blob, { type: "difference" })), /not a whole object/],
    ["with a smaller size", () => answerWith(packOf("blob", blob, { size: 3 })), /can't be unpacked/],
    ["with a larger size", () => answerWith(packOf("blob", blob, { size: 30 })), /another object/],
    ["with broken bytes", () => answerWith(packOf("blob", blob, { packed: Buffer.from("none") })), /can't be unpacked/],
    ["with no pack", () => answerWith(Buffer.from("PACKAGE with something in it")), /objects in place of one/],
    ["with less than a pack", () => answerWith(Buffer.from("PACK")), /no pack/],
    ["without an object", () => FLUSH, /has no pack/],
    [
      "with a failure",
      () => Buffer.concat([packet("packfile\n"), packet(Buffer.from([3, 65, 66])), FLUSH]),
      /refuses the question/,
    ],
  ])("%s gives no file", async (_what, answer, words) => {
    answers.set(blobHash, answer());
    const error = await refusal();
    expect(error).toBeInstanceOf(BadGitAnswer);
    expect(error.message).toMatch(words);
  });

  test("with a size of many bytes has a file that is too large", async () => {
    answers.set(blobHash, answerWith(packOf("blob", blob, { size: 2 ** 40 })));
    expect(await refusal()).toMatchObject({ reason: "unsuitable", message: "has more than 1 MiB in 'seed/data.sql'" });
  });

  test.each([
    ["commit", () => commit, "has more than 1 MiB in its commit"],
    ["folder", () => hashOf("tree", folder), "has more than 4 MiB in a folder on the way to the file"],
  ] as const)("with a %s that would fill the memory has it not unpacked", async (kind, hash, message) => {
    const type = kind === "folder" ? "tree" : kind;
    answers.set(hash(), answerWith(packOf(type, Buffer.alloc(5 * 2 ** 20))));
    expect(await refusal()).toMatchObject({ name: "FileUnreadable", reason: "unsuitable", message });
  });

  test("with a folder that is cut gives no file", async () => {
    repositoryOf([entry("100644", "data.sql", blobHash).subarray(0, 20)]);
    expect((await refusal()).message).toMatch(/a folder ends too early/);
  });

  test("with a commit of no folder gives no file", async () => {
    const text = Buffer.from("author a\n");
    commit = hashOf("commit", text);
    answers.set(commit, answerWith(packOf("commit", text)));
    expect((await refusal()).message).toMatch(/its commit has no tree/);
  });
});
