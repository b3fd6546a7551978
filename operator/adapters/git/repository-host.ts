import type { HttpClient } from "isomorphic-git";
import { Agent, type Dispatcher, request } from "undici";
import { isSafeAddress } from "../../../crds/addresses.ts";
import { COMMIT_PATTERN } from "../../../crds/schema.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { errorCode } from "../../kit/error-code.ts";
import { systemClock } from "../../kit/time/clock.ts";
import {
  CredentialRejected,
  FileUnreadable,
  type RepositoryFiles,
  type RepositoryHost,
  RepositoryHostUnavailable,
} from "../../ports/repository-host.ts";
import { AdvertisementCache } from "./advertisement-cache.ts";
import { CallLimits } from "./call-limits.ts";
import { statingObjectFormat } from "./object-format.ts";
import { assertWholeAnswer, BadGitAnswer, GitAnswerTooLong } from "./packets.ts";
import { readFile } from "./repository-file.ts";
import { inOnePiece, wholeBody } from "./smart-http.ts";

/** Room for some 50 000 refs, for hosts that list all at once. */
const ANSWER_LIMIT_MIB = 4;
const commitPattern = new RegExp(COMMIT_PATTERN);

/**
 * RepositoryHost and RepositoryFiles ports over git's smart HTTP protocol, version 2: small requests, no clone. A head takes at most
 * `deadlineMs`, and usually one request: two where the capability advertisement is not cached. A file takes at most three
 * times as long.
 */
export function gitRepositoryHost({
  deadlineMs = 10_000,
  clock = systemClock,
} = {}): RepositoryHost & RepositoryFiles & { close(): Promise<void> } {
  const agent = new Agent({ connections: 16, connect: { timeout: 5_000 } });
  const advertisements = new AdvertisementCache();
  const limits = new CallLimits(clock);
  async function ask<T>(
    cloneUrl: string,
    credential: Sensitive | undefined,
    { withinMs, question }: { readonly withinMs: number; readonly question: (http: HttpClient) => Promise<T> },
  ): Promise<T> {
    assertPlain(cloneUrl);
    const signal = AbortSignal.timeout(withinMs);
    try {
      limits.check(cloneUrl);
      return await question(boundedHttp({ agent, limits, signal, cloneUrl, credential }));
    } catch (cause) {
      if (cause instanceof CredentialRejected || cause instanceof FileUnreadable) throw cause;
      const reason = signal.aborted ? `no answer within ${withinMs / 1000} s` : reasonOf(cause);
      throw new RepositoryHostUnavailable(`${cloneUrl} can't be asked: ${reason}`, { cause });
    }
  }
  return {
    head: (url, branch, credential) =>
      ask(url, credential, {
        withinMs: deadlineMs,
        question: (http) => advertisements.run(url, http, (one) => headOf(one, url, `refs/heads/${branch}`)),
      }),
    // A request for each folder on the way.
    file: (url, repositoryFile, credential) =>
      ask(url, credential, {
        withinMs: 3 * deadlineMs,
        question: (http) => readFile({ http: statingObjectFormat(http), url }, repositoryFile),
      }),
    close: () => agent.close(),
  };
}

/** Refused because messages repeat the URL. */
function assertPlain(cloneUrl: string): void {
  if (!URL.canParse(cloneUrl)) throw new RepositoryHostUnavailable("the cloneUrl is not a valid URL");
  const { username, password, search, hash } = new URL(cloneUrl);
  if (search !== "" || hash !== "") {
    throw new RepositoryHostUnavailable("the cloneUrl has a query or a fragment: a repository has a path alone");
  }
  if (username === "" && password === "") return;
  throw new RepositoryHostUnavailable("the cloneUrl holds credentials: name them by spec.credentialsRef instead");
}

async function headOf(http: HttpClient, url: string, ref: string): Promise<string | undefined> {
  // Loaded on first use, not at the start.
  const { default: git } = await import("isomorphic-git");
  const refs = await git.listServerRefs({ http: statingObjectFormat(http), url, prefix: ref, protocolVersion: 2 });
  // The prefix matches longer names too.
  const head = refs.find((candidate) => candidate.ref === ref)?.oid;
  // The pattern admits the empty string, for a spec without a commit; a host must name one.
  if (head === "" || (head !== undefined && !commitPattern.test(head))) {
    throw new BadGitAnswer("what it names as the head is not a commit");
  }
  return head;
}

interface Question {
  readonly agent: Agent;
  readonly limits: CallLimits;
  readonly signal: AbortSignal;
  readonly cloneUrl: string;
  readonly credential: Sensitive | undefined;
}

/**
 * Passes only complete answers to isomorphic-git, which reads a broken or stalled body as the end of the list, without
 * bound; its own client has no deadline and follows any redirect. The credential is added here, so that nothing above
 * holds it as text.
 */
function boundedHttp(question: Question): HttpClient {
  const { agent, limits, signal, cloneUrl, credential } = question;
  return {
    async request({ url, method = "GET", headers = {}, body }) {
      assertTrusted(url, cloneUrl, credential !== undefined);
      const reply = await request(url, {
        method: method as "GET",
        headers: credential === undefined ? headers : { ...headers, authorization: basic(credential) },
        body: body === undefined ? null : await wholeBody(body),
        dispatcher: agent,
        signal,
      });
      limits.answered(url, reply.statusCode, String(reply.headers["retry-after"]));
      if (reply.statusCode !== 200) throw refusal(reply, question);
      const answer = await wholeAnswer(reply);
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

/** isomorphic-git parses logins out of URLs by its own pattern: should that find another host, nothing is sent. */
function assertTrusted(url: string, cloneUrl: string, hasCredential: boolean): void {
  const target = new URL(url);
  if (target.origin !== new URL(cloneUrl).origin) throw new BadGitAnswer("the question would go to another host");
  if (hasCredential && !isSafeAddress(target))
    throw new BadGitAnswer("credentials are sent by https only, or to this very machine");
}

/** https://www.rfc-editor.org/rfc/rfc7617 */
const basic = (credential: Sensitive) => `Basic ${Buffer.from(credential.reveal()).toString("base64")}`;

/** Meaning of a status other than 200, and its remedy; the rest of the answer is not read. */
function refusal(
  { statusCode, body }: Dispatcher.ResponseData,
  { cloneUrl, credential }: Question,
): CredentialRejected | BadGitAnswer {
  body.on("error", () => undefined).destroy();
  const answer = `it answered ${statusCode}`;
  if (statusCode !== 401 && statusCode !== 403) return new BadGitAnswer(answer);
  if (credential === undefined) {
    const remedy = "a repository that not everybody may read needs spec.credentialsRef";
    return new BadGitAnswer(`${answer}, and was sent no credential: ${remedy}`);
  }
  const remedy = "renew it in the secret manager, or let it read this repository, then reconcile";
  const rejection = `${cloneUrl} rejects the credential that spec.credentialsRef names (${answer})`;
  return new CredentialRejected(`${rejection}: ${remedy}`);
}

/** @throws BadGitAnswer for an answer beyond the limit or a broken one; errors of the connection */
async function wholeAnswer({ body }: Dispatcher.ResponseData): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_LIMIT_MIB * 1024 ** 2) {
      throw new GitAnswerTooLong(`its answer is longer than ${ANSWER_LIMIT_MIB} MiB`);
    }
    chunks.push(chunk);
  }
  const answer = Buffer.concat(chunks);
  assertWholeAnswer(answer);
  return answer;
}

const reasonOf = (cause: unknown) => (cause instanceof BadGitAnswer ? cause.message : errorCode(cause));
