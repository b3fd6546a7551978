import { Headers, Response, type fetch as undiciFetch } from "undici";
import { digestOf } from "../../../crds/digest.ts";

/** A request to the API of a host. */
export type Fetch = (url: string, options?: Parameters<typeof undiciFetch>[1]) => Promise<Response>;

interface Known {
  readonly etag: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Characters of all answers cached per HostApi: some hundred pull requests of GitHub. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const OVERHEAD = 1024;
/** Headers that an unchanged answer omits. */
const KEPT_HEADERS = ["content-type", "link"];

/**
 * Fetch with conditional requests: the host still answers each read, never memory alone. Unchanged answers cost nothing
 * of GitHub's rate limit,
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests.
 * Answers are cached per token, least recently used ones evicted first.
 */
export function conditional(fetch: Fetch, most = MOST_CHARACTERS): Fetch {
  const answers = lastAnswers(most);
  return async (url, options = {}) => {
    if (!isRead(options)) return fetch(url, options);
    const headers = new Headers(options.headers);
    const key = digestOf([headers.get("authorization"), headers.get("accept"), url]);
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

/** Most recently used answers. */
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
    // A map iterates in insertion order.
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
