import git, { type HttpClient } from "isomorphic-git";
import { Agent, type Dispatcher, request } from "undici";
import { COMMIT_PATTERN } from "../../crds/schema.ts";
import { type RepositoryHost, RepositoryHostUnavailable } from "../ports/repository-host.ts";
import { assertWholeAnswer, BadGitAnswer, objectFormatOf, withObjectFormat } from "./git-packets.ts";

/** About 50 000 refs, for hosts that tell them all at once. */
const ANSWER_LIMIT_MIB = 4;
const commitPattern = new RegExp(COMMIT_PATTERN);

interface GitRepositoryHostOptions {
  /** How long one question may take in all, in milliseconds. */
  readonly deadlineMs?: number;
}

/** The RepositoryHost port over git's smart HTTP protocol, version 2: one small question, no clone. */
export function gitRepositoryHost({ deadlineMs = 10_000 }: GitRepositoryHostOptions = {}): RepositoryHost & {
  close(): Promise<void>;
} {
  const agent = new Agent({ connections: 16, connect: { timeout: 5_000 } });
  return {
    async head(cloneUrl, branch) {
      if (!URL.canParse(cloneUrl)) throw new RepositoryHostUnavailable("the cloneUrl is not a valid URL");
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        return await headOf(boundedHttp(agent, signal), cloneUrl, `refs/heads/${branch}`);
      } catch (cause) {
        const reason = signal.aborted ? `no answer within ${deadlineMs / 1000} s` : reasonOf(cause);
        throw new RepositoryHostUnavailable(`${withoutCredentials(cloneUrl)} can't be asked: ${reason}`, { cause });
      }
    },
    close: () => agent.close(),
  };
}

async function headOf(http: HttpClient, url: string, ref: string): Promise<string | undefined> {
  const refs = await git.listServerRefs({ http, url, prefix: ref, protocolVersion: 2 });
  // The prefix matches longer names too.
  const head = refs.find((candidate) => candidate.ref === ref)?.oid;
  // The pattern admits the empty string: a spec may leave the commit open, a host may not.
  if (head === "" || (head !== undefined && !commitPattern.test(head))) {
    throw new BadGitAnswer("what it names as the head is not a commit");
  }
  return head;
}

/**
 * Hands isomorphic-git only answers that are whole: it reads a broken or stalled body as the end of the list, without
 * bound. Its own client has no deadline either, and follows redirects to wherever they lead. For one call of
 * isomorphic-git: what the host told of itself is used in the question that follows.
 */
function boundedHttp(agent: Agent, signal: AbortSignal): HttpClient {
  let objectFormat: string | undefined;
  return {
    async request({ url, method = "GET", headers = {}, body }) {
      const sent =
        body === undefined ? null : withObjectFormat(Buffer.concat(await Array.fromAsync(body)), objectFormat);
      const reply = await request(url, { method: method as "GET", headers, body: sent, dispatcher: agent, signal });
      const answer = await wholeAnswer(reply);
      objectFormat ??= objectFormatOf(answer);
      const flat = Object.entries(reply.headers).map(([name, value]) => [name, String(value)]);
      return {
        url,
        method,
        statusCode: reply.statusCode,
        statusMessage: String(reply.statusCode),
        headers: Object.fromEntries(flat),
        body: inOnePiece(answer),
      };
    },
  };
}

/** @throws BadGitAnswer for another status than 200, an answer beyond the limit or a broken one; what the connection throws */
async function wholeAnswer({ statusCode, body }: Dispatcher.ResponseData): Promise<Buffer> {
  if (statusCode !== 200) {
    body.on("error", () => undefined).destroy();
    throw new BadGitAnswer(`it answered ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_LIMIT_MIB * 1024 ** 2) {
      throw new BadGitAnswer(`its answer is longer than ${ANSWER_LIMIT_MIB} MiB`);
    }
    chunks.push(chunk);
  }
  const answer = Buffer.concat(chunks);
  assertWholeAnswer(answer);
  return answer;
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function reasonOf(cause: unknown): string {
  if (cause instanceof BadGitAnswer) return cause.message;
  const { code, name } = Object(cause) as Partial<NodeJS.ErrnoException>;
  return code ?? name ?? "unknown error";
}

function withoutCredentials(cloneUrl: string): string {
  const url = new URL(cloneUrl);
  url.username = "";
  url.password = "";
  return url.href;
}
