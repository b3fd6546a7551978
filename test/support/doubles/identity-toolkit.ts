import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface ToolkitCall {
  readonly path: string;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A stand-in for the password resets of `identitytoolkit.googleapis.com`. */
export interface IdentityToolkit {
  readonly endpoint: string;
  readonly calls: readonly ToolkitCall[];
  /** Answers the next calls with this instead, until `recover`. */
  failWith(status: number, body: string, headers?: Readonly<Record<string, string>>): void;
  recover(): void;
  stop(): Promise<void>;
}

export const TOOLKIT_KEY = "AIza-toolkit-test-key";

/** https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendOobCode, with its errors for these accounts. */
export async function startIdentityToolkit(...accounts: readonly string[]): Promise<IdentityToolkit> {
  const calls: ToolkitCall[] = [];
  let failure: { status: number; body: string; headers: Readonly<Record<string, string>> } | undefined;
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as ToolkitCall["body"];
    calls.push({ path: request.url ?? "", key: String(request.headers["x-goog-api-key"]), body });
    const answer = (status: number, content: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
    };
    if (failure !== undefined) return response.writeHead(failure.status, failure.headers).end(failure.body);
    if (request.headers["x-goog-api-key"] !== TOOLKIT_KEY) return answer(400, problem(400, "API key not valid."));
    const email = String(body.email).toLowerCase();
    if (!accounts.includes(email)) return answer(400, problem(400, "EMAIL_NOT_FOUND"));
    return answer(200, { kind: "identitytoolkit#GetOobConfirmationCodeResponse", email });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    failWith: (status, body, headers = {}) => {
      failure = { status, body, headers };
    },
    recover: () => {
      failure = undefined;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const problem = (code: number, message: string) => ({
  error: { code, message, errors: [{ message, domain: "global" }] },
});
