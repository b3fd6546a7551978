/**
 * Writes `operations.json` from GitHub's published description of its REST API: the called operations, their success answers
 * with one example each, and the referenced schemas. By hand, after a new VERSION or a new operation:
 *
 * npm run node -- test/support/doubles/github-rest/extract.ts && npx biome check --write test/support/doubles/github-rest
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The version of `@octokit/openapi`, which is too large to be a dependency. */
const VERSION = "23.0.2";
const MEMBER = "package/generated/api.github.com.json";
const REPOSITORY = "/repos/{owner}/{repo}";
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  "/user": ["get"],
  [`${REPOSITORY}/statuses/{sha}`]: ["post"],
  [`${REPOSITORY}/issues/{issue_number}/comments`]: ["get", "post"],
  [`${REPOSITORY}/issues/comments/{comment_id}`]: ["patch"],
  [`${REPOSITORY}/deployments`]: ["get", "post"],
  [`${REPOSITORY}/deployments/{deployment_id}`]: ["delete"],
  [`${REPOSITORY}/deployments/{deployment_id}/statuses`]: ["post"],
  [`${REPOSITORY}/environments/{environment_name}`]: ["delete"],
  [`${REPOSITORY}/pulls`]: ["get"],
  [`${REPOSITORY}/pulls/{pull_number}`]: ["get"],
  [`${REPOSITORY}/hooks`]: ["get", "post"],
  [`${REPOSITORY}/hooks/{hook_id}`]: ["patch", "delete"],
  [`${REPOSITORY}/hooks/{hook_id}/pings`]: ["post"],
  [`${REPOSITORY}/hooks/{hook_id}/deliveries`]: ["get"],
  [`${REPOSITORY}/hooks/{hook_id}/deliveries/{delivery_id}/attempts`]: ["post"],
};
/** Keywords that validate nothing. */
const DROPPED = new Set(["description", "example", "examples", "title", "summary", "externalDocs"]);
const JSON_TYPE = "application/json";

// biome-ignore lint/suspicious/noExplicitAny: the description is walked as it is
type Json = any;

/** Drops keywords that validate nothing. A property may have such a name. */
function bare(value: Json, areNames = false): Json {
  if (Array.isArray(value)) return value.map((one) => bare(one));
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([key]) => areNames || !(DROPPED.has(key) || key.startsWith("x-")));
  return Object.fromEntries(kept.map(([key, one]) => [key, bare(one, !areNames && key === "properties")]));
}

function extract(description: Json): Json {
  const extracted: Json = { openapi: description.openapi, info: description.info, paths: {} };
  const resolve = (ref: string) =>
    ref
      .slice(2)
      .split("/")
      .reduce((value: Json, key) => value[key], description);
  const resolved = (value: Json) => (value?.$ref === undefined ? value : resolve(value.$ref));
  const adopt = (value: Json): void => {
    if (value === null || typeof value !== "object") return;
    for (const one of Object.values(value)) adopt(one);
    if (typeof value.$ref !== "string") return;
    const [, components = "", group = "", name = ""] = value.$ref.split("/");
    extracted[components] ??= {};
    extracted[components][group] ??= {};
    if (name in extracted[components][group]) return;
    extracted[components][group][name] = bare(resolve(value.$ref));
    adopt(extracted[components][group][name]);
  };
  const answerOf = (response: Json) => {
    const { schema, examples = {} } = resolved(response).content?.[JSON_TYPE] ?? {};
    if (schema === undefined) return {};
    const [example] = Object.values<Json>(examples);
    const shown = example === undefined ? {} : { example: resolved(example).value };
    return { content: { [JSON_TYPE]: { schema: bare(schema), ...shown } } };
  };
  const operationOf = ({ parameters = [], requestBody, responses }: Json) => ({
    parameters: parameters.map((one: Json) => bare(resolved(one))),
    ...(requestBody === undefined ? {} : { requestBody: bare(requestBody) }),
    responses: Object.fromEntries(
      Object.entries<Json>(responses)
        .filter(([status]) => status.startsWith("2"))
        .map(([status, response]) => [status, answerOf(response)]),
    ),
  });
  for (const [path, methods] of Object.entries(OPERATIONS))
    extracted.paths[path] = Object.fromEntries(
      methods.map((name) => [name, operationOf(description.paths[path][name])]),
    );
  adopt(extracted.paths);
  return extracted;
}

const folder = mkdtempSync(join(tmpdir(), "github-rest-"));
try {
  execFileSync("npm", ["pack", `@octokit/openapi@${VERSION}`, "--silent", "--pack-destination", folder]);
  const packed = join(folder, `octokit-openapi-${VERSION}.tgz`);
  const text = execFileSync("tar", ["-xzOf", packed, MEMBER], { maxBuffer: 256 * 1024 * 1024, encoding: "utf8" });
  const written = new URL("operations.json", import.meta.url);
  writeFileSync(written, `${JSON.stringify(extract(JSON.parse(text)), null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
