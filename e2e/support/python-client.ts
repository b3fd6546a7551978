import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Outcome, run } from "./command.ts";
import { checkout, site } from "./site.ts";

const NO_PYTHON = 3;
const INSTALL_DEADLINE_MS = 10 * 60_000;
const GENERATE_DEADLINE_MS = 60_000;
const LIFE_DEADLINE_MS = 220_000;

/**
 * A Python with openapi-python-client, installed if missing; undefined, with a message, without a suitable Python. Versions
 * are pinned in `test/generators/requirements.txt`.
 */
export async function generatorPython(): Promise<string | undefined> {
  const installer = resolve(checkout, "test/generators/python.ts");
  const { code, stdout, stderr } = await run(process.execPath, { args: [installer], deadlineMs: INSTALL_DEADLINE_MS });
  if (code === 0) return stdout.trim();
  if (code !== NO_PYTHON) throw new Error(`openapi-python-client can't be installed: ${stderr}`);
  console.log(`openapi-python-client is not there. ${stderr}`);
  return undefined;
}

/** Generates a client from the served document, and uses it for an environment's whole life. */
export async function lifeByClient(python: string, name: string, token: string): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "python-client-"));
  try {
    const programs = dirname(python);
    const what = ["generate", "--url", `${site.apiUrl}/openapi.json`, "--fail-on-warning"];
    const generated = await run(join(programs, "openapi-python-client"), {
      args: [...what, "--meta", "none", "--output-path", join(folder, "platform_client")],
      // The generator calls ruff, which was installed with it.
      env: { PATH: `${programs}:${process.env.PATH}` },
      deadlineMs: GENERATE_DEADLINE_MS,
    });
    if (generated.code !== 0) return generated;
    return await run(python, {
      args: [join(import.meta.dirname, "life_of_environment.py"), site.apiUrl, name],
      env: { API_TOKEN: token, PYTHONPATH: folder },
      deadlineMs: LIFE_DEADLINE_MS,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
