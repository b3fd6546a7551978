import { describe, expect, test } from "@jest/globals";
import { type ClientOptions, createClient } from "../../../../clients/sdk/index.ts";

const LOG = "GET /api/v2/environments/{environment_id}/logs/{component}/stream";
const refusal = (status: number, error_code: string) => Response.json({ detail: "Refused", error_code }, { status });

function platformOf(...answers: readonly (Response | Error)[]) {
  const left = [...answers];
  const requested: string[] = [];
  const fetch: ClientOptions["fetch"] = async ({ method, url }) => {
    requested.push(`${method} ${url}`);
    const answer = left.shift() ?? new Error("nothing more was expected");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { requests: requested, fetch };
}

describe("what is followed", () => {
  const path = { environment_id: "shop", component: "backend" } as const;

  test("ends when it is gone, also when nothing ever came", async () => {
    const { requests: requested, fetch } = platformOf(new Response(""), refusal(404, "ENV_NOT_FOUND"));
    const client = createClient({ url: "https://eenv.example.test", fetch });
    expect(await Array.fromAsync(client.follow(LOG, { path }))).toEqual([]);
    expect(requested).toHaveLength(2);
  });

  test("is refused when it never was there", async () => {
    const { fetch } = platformOf(refusal(404, "ENV_NOT_FOUND"));
    const client = createClient({ url: "https://eenv.example.test", fetch });
    await expect(Array.fromAsync(client.follow(LOG, { path }))).rejects.toMatchObject({ code: "ENV_NOT_FOUND" });
  });

  test("throws the reason of the signal once it is aborted", async () => {
    const { fetch } = platformOf(new Response('data: {"message":"one"}\n\n'));
    const client = createClient({ url: "https://eenv.example.test", fetch });
    const ended = new AbortController();
    const reason = new Error("seen enough");
    const events = client.follow(LOG, { path, signal: ended.signal });
    expect((await events.next()).value?.data).toEqual({ message: "one" });
    const next = events.next();
    ended.abort(reason);
    await expect(next).rejects.toBe(reason);
  });
});

describe("an address", () => {
  test.each([".", "..", ""])("is none with '%s' in its path, which would be that of another operation", async (id) => {
    const { requests: requested, fetch } = platformOf(Response.json({ data: {} }));
    const client = createClient({ url: "https://eenv.example.test", fetch });
    const deleting = client.call("DELETE /api/v2/environments/{environment_id}", { path: { environment_id: id } });
    await expect(deleting).rejects.toThrow("environment_id");
    expect(requested).toEqual([]);
  });

  test("that can't be one is not tried again", async () => {
    let tokens = 0;
    const token = () => {
      tokens += 1;
      return "t";
    };
    await expect(createClient({ url: "eenv.example.test", token }).call("GET /api/v2/status")).rejects.toThrow(
      "Invalid URL",
    );
    expect(tokens).toBe(0);
  });
});
