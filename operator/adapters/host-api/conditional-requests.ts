import { hash } from "node:crypto";
import { Headers, Response, type fetch as undiciFetch } from "undici";

/** A request to the API of a host. */
export type Fetch = (url: string, options?: Parameters<typeof undiciFetch>[1]) => Promise<Response>;

/** An answer that the host may call unchanged. */
interface Known {
  readonly etag: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Characters of all answers that are kept for one HostApi: some hundred pull requests of GitHub. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** What an answer costs beside its characters. */
const OVERHEAD = 1024;
/** What an answer that is unchanged does not say again. */
const KEPT_HEADERS = ["content-type", "link"];

/**
 * The same fetch, which asks whether an answer changed instead of for all of it: each read is still answered by the host, and
 * never from memory alone. GitHub takes an unchanged answer from no budget,
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests. An answer
 * belongs to the token that it was given to. Those that were not asked for the longest are forgotten first.
 */
export function conditional(fetch: Fetch, most = MOST_CHARACTERS): Fetch {
  const answers = lastAnswers(most);
  return async (url, options = {}) => {
    if (!isRead(options)) return fetch(url, options);
    const headers = new Headers(options.headers);
    const key = hash("sha256", `${headers.get("authorization")}\n${headers.get("accept")}\n${url}`);
    const known = answers.get(key);
    if (known !== undefined) headers.set("if-none-match", known.etag);
    const reply = await fetch(url, { ...options, headers });
    if (reply.status === 304 && known !== undefined) {
      return new Response(known.text, { headers: { ...Object.fromEntries(reply.headers), ...known.headers } });
    }
    const etag = reply.headers.get("etag");
    if (reply.status !== 200 || etag === null) return reply;
    const read = await readAnswer(reply, etag);
    answers.put(key, read);
    return new Response(read.text, { headers: reply.headers });
  };
}

const isRead = ({ method = "GET" }: { readonly method?: string }) => method === "GET";

async function readAnswer(reply: Response, etag: string): Promise<Known> {
  const kept = [...reply.headers].filter(([name]) => KEPT_HEADERS.includes(name));
  return { etag, text: await reply.text(), headers: Object.fromEntries(kept) };
}

/** The answers that were asked for last. */
function lastAnswers(most: number) {
  const kept = new Map<string, Known>();
  const costOf = ({ text }: Known) => text.length + OVERHEAD;
  let cost = 0;
  const drop = (key: string) => {
    const known = kept.get(key);
    if (known === undefined || !kept.delete(key)) return undefined;
    cost -= costOf(known);
    return known;
  };
  const put = (key: string, known: Known) => {
    drop(key);
    kept.set(key, known);
    cost += costOf(known);
    // A map lists first what was put first.
    for (const oldest of kept.keys()) {
      if (cost <= most) break;
      drop(oldest);
    }
  };
  return {
    put,
    get(key: string) {
      const known = drop(key);
      if (known !== undefined) put(key, known);
      return known;
    },
  };
}
