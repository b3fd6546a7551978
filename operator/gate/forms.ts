import type { IncomingMessage, ServerResponse } from "node:http";
import type { GateAnswer } from "./answers.ts";
import { PAGE_POLICY, pageOf } from "./page.ts";
import { GATE_HEADER } from "./request.ts";

/** Writes the answer in the form that the client reads: a page, JSON for the page itself, or a line of text. */
export function writeAnswer(request: IncomingMessage, response: ServerResponse, answer: GateAnswer): void {
  if (response.destroyed) return;
  const { type, text } = formOf(request, answer);
  const length = { "content-type": type, "content-length": Buffer.byteLength(text) };
  // The rest of a body is not read.
  const end = request.complete ? {} : { connection: "close" };
  response.writeHead(answer.status, { ...headersOf(answer), ...length, ...end });
  response.end(request.method === "HEAD" ? undefined : text);
}

const REASONS = { 404: "Not Found", 502: "Bad Gateway", 503: "Service Unavailable" };

/** The answer to a request for another protocol, as its bytes. */
export function rawAnswer(answer: GateAnswer): string {
  const headers = { ...headersOf(answer), connection: "close", "content-length": "0" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${answer.status} ${REASONS[answer.status]}`, ...lines, "", ""].join("\r\n");
}

function headersOf({ name, retryAfterSeconds }: GateAnswer): Readonly<Record<string, string>> {
  return {
    [GATE_HEADER]: name,
    "cache-control": "no-store",
    "content-security-policy": PAGE_POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  };
}

interface Form {
  readonly type: string;
  readonly text: string;
}

function formOf({ headers }: IncomingMessage, answer: GateAnswer): Form {
  const { title, text, steps } = answer;
  if (headers[GATE_HEADER] === "status")
    return { type: "application/json", text: JSON.stringify({ title, text, steps }) };
  if (headers.accept?.includes("text/html")) return { type: "text/html; charset=utf-8", text: pageOf(answer) };
  return { type: "text/plain; charset=utf-8", text: `${title}. ${text}\n` };
}
