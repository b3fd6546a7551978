import type { HttpClient } from "isomorphic-git";
import { FileUnreadable, type RepositoryFile } from "../../ports/repository-host.ts";
import { type GitObject, onlyObject } from "./pack.ts";
import { BadGitAnswer, GitAnswerTooLong, packetOf, payloadsOf } from "./packets.ts";
import { inOnePiece } from "./smart-http.ts";

const MIB = 1024 ** 2;
/** The largest objects; a folder of 4 MiB has some 50 000 files. What is larger is not unpacked. */
const LIMIT_MIB = { commit: 1, tree: 4, blob: 1 } as const;
type Kind = keyof typeof LIMIT_MIB;
/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
const LFS_POINTER = "version https://git-lfs.github.com/spec/";

const FLUSH = "0000";
const DELIMITER = "0001";

/** A repository to read from. */
interface Place {
  readonly http: HttpClient;
  readonly url: string;
}

/**
 * Content of one file: one small request for each folder on its way, and nothing else of the repository is sent. Each
 * object is checked by its name, so it is what the commit has, whatever the host says.
 *
 * @throws FileUnreadable, BadGitAnswer, and errors of `http`
 */
export async function readFile(place: Place, { commit, path }: RepositoryFile): Promise<Buffer> {
  await assertGivesObjects(place);
  let entry: Entry = { mode: FOLDER, name: await rootOf(place, commit) };
  for (const segment of path.split("/")) {
    const isFolder = entry.mode === FOLDER;
    const found = isFolder ? await entryIn(place, entry, segment) : undefined;
    if (found === undefined) throw new FileUnreadable("absent", `has no file '${path}'`);
    entry = found;
  }
  if (!entry.mode.startsWith(PLAIN_FILE)) throw new FileUnreadable("absent", `has no plain file at '${path}'`);
  const content = await contentOf(place, entry.name, "blob", `'${path}'`);
  if (content.toString("latin1", 0, LFS_POINTER.length) === LFS_POINTER) {
    throw new FileUnreadable("unsuitable", `has '${path}' in Git LFS`);
  }
  return content;
}

/**
 * Single objects need protocol 2 and its filters, which GitHub, GitLab and Gitea have.
 * https://git-scm.com/docs/protocol-v2#_fetch
 */
async function assertGivesObjects({ http, url }: Place): Promise<void> {
  // Loaded on first use, not at the start.
  const { default: git } = await import("isomorphic-git");
  const { capabilities } = await git.getRemoteInfo2({ http, url, protocolVersion: 2 });
  const { fetch } = capabilities as Readonly<Record<string, string | true>>;
  if (typeof fetch === "string" && fetch.split(" ").includes("filter")) return;
  throw new FileUnreadable("unsuitable", "is on a host that gives no single files (uploadpack.allowFilter)");
}

async function rootOf(place: Place, commit: string): Promise<string> {
  const text = (await contentOf(place, commit, "commit", "its commit")).toString("latin1");
  const root = /^tree ([0-9a-f]+)\n/.exec(text)?.[1];
  if (root === undefined) throw new BadGitAnswer("its commit has no tree");
  return root;
}

/** @throws FileUnreadable for an object beyond its limit, before it is unpacked */
async function contentOf(place: Place, name: string, kind: Kind, what: string): Promise<Buffer> {
  const tooLarge = () => new FileUnreadable("unsuitable", `has more than ${LIMIT_MIB[kind]} MiB in ${what}`);
  const object = await objectOf(place, name, kind).catch((error: unknown) => {
    throw error instanceof GitAnswerTooLong ? tooLarge() : error;
  });
  if (object.size > LIMIT_MIB[kind] * MIB) throw tooLarge();
  return object.content();
}

interface Entry {
  readonly mode: string;
  /** Hash of the object, in hexadecimal digits. */
  readonly name: string;
}

const FOLDER = "40000";
const PLAIN_FILE = "100";

/** The entry of a folder, which is a list of "mode file-name NUL hash". */
async function entryIn(place: Place, { name: folder }: Entry, segment: string): Promise<Entry | undefined> {
  const tree = await contentOf(place, folder, "tree", "a folder on the way to the file");
  const hashBytes = folder.length / 2;
  for (let at = 0; at < tree.length; ) {
    const start = tree.indexOf(0, at) + 1;
    const end = start + hashBytes;
    if (start === 0 || end > tree.length) throw new BadGitAnswer("a folder ends too early");
    const [mode = "", fileName] = tree.toString("utf8", at, start - 1).split(/ (.*)/s);
    // Some programs have written modes with a leading zero.
    if (fileName === segment) return { mode: mode.replace(/^0+/, ""), name: tree.toString("hex", start, end) };
    at = end;
  }
  return undefined;
}

/** @throws GitAnswerTooLong, BadGitAnswer, and errors of `http` */
async function objectOf({ http, url }: Place, name: string, kind: Kind): Promise<GitObject> {
  const { body } = await http.request({
    url: `${url}/git-upload-pack`,
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: inOnePiece(Buffer.from(requestFor(name, kind))),
  });
  const object = onlyObject(packIn(Buffer.concat(await Array.fromAsync(body ?? []))), name);
  if (object.kind !== kind) throw new BadGitAnswer(`its answer is a ${object.kind} in place of a ${kind}`);
  return object;
}

/** The filter leaves out all that is not asked for by name; a commit would bring its history. */
function requestFor(name: string, kind: Kind): string {
  const depth = kind === "commit" ? ["deepen 1"] : [];
  const args = ["no-progress", "filter tree:0", ...depth, `want ${name}`, "done"];
  return `${packetOf("command=fetch\n")}${DELIMITER}${args.map((arg) => packetOf(`${arg}\n`)).join("")}${FLUSH}`;
}

const DATA = 1;
const FAILURE = 3;

/** The pack in an answer, which begins after its line `packfile`, in parts with a number of their stream. */
function packIn(answer: Buffer): Buffer {
  const payloads = [...payloadsOf(answer)];
  const first = payloads.findIndex((payload) => payload.toString("latin1") === "packfile\n") + 1;
  if (first === 0) throw new BadGitAnswer("its answer has no pack");
  const parts = payloads.slice(first);
  if (parts.some(([stream]) => stream === FAILURE)) throw new BadGitAnswer("it refuses the question");
  return Buffer.concat(parts.filter(([stream]) => stream === DATA).map((part) => part.subarray(1)));
}
