import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { read } from "./kubectl.ts";
import { stateFolder } from "./site.ts";

const DEADLINE_MS = 15_000;

/** The environment chart's repository, and where its host's API has it. */
export interface ChartRepository {
  readonly repoUrl: string;
  readonly api: string;
}

/** Finds it by a Repository's clone URL: both live on the same host, in the same organization. */
export async function chartRepository(): Promise<ChartRepository> {
  const { spec } = await read<{ spec: { cloneUrl: string } }>(
    ...["erepo", "sample-backend", "--namespace=ephemeral-system"],
  );
  const repoUrl = spec.cloneUrl.replace("/sample-backend.git", "/environment-chart.git");
  const { origin, pathname } = new URL(repoUrl);
  return { repoUrl, api: `${origin}/api/v1/repos${pathname.replace(/\.git$/, "")}` };
}

/** Commits a file to a branch, which is made from `main` when it is not there. */
export async function commitFile({ api }: ChartRepository, branch: string, path: string, text: string): Promise<void> {
  const base = (await ask("GET", `${api}/branches/${branch}`)).status === 404;
  const known = base ? undefined : await ask("GET", `${api}/contents/${path}?ref=${branch}`);
  const sha = known?.ok ? ((await known.json()) as { sha: string }).sha : undefined;
  const reply = await ask(sha === undefined ? "POST" : "PUT", `${api}/contents/${path}`, {
    ...{ content: Buffer.from(text).toString("base64"), message: `Write ${path}` },
    ...(base ? { branch: "main", new_branch: branch } : { branch }),
    ...(sha === undefined ? {} : { sha }),
  });
  if (!reply.ok) throw new Error(`the git host answered ${reply.status} to the commit: ${await reply.text()}`);
}

/** Takes the branch away; one that is not there is fine. */
export async function removeBranch({ api }: ChartRepository, branch: string): Promise<void> {
  await ask("DELETE", `${api}/branches/${branch}`);
}

/** The account that may do everything on the git host. */
export async function administrator(): Promise<{ readonly name: string; readonly password: string }> {
  return JSON.parse(await readFile(join(stateFolder, "cluster/git-host-administrator.json"), "utf8"));
}

async function ask(method: string, url: string, body?: object): Promise<Response> {
  const { name, password } = await administrator();
  return fetch(url, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
      "content-type": "application/json",
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
}
