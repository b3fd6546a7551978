import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { checkout } from "./command.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

/** Each lists installed versions. */
const LOCK_FILES = ["package-lock.json", "deploy/local/programs/postgresql/package-lock.json"];
const DEADLINE_MS = 60_000;

/** The npm registry's findings on a lock file's packages. */
export type Audit =
  | { readonly state: "clean" }
  /** Lines with the package, its severity and the finding. */
  | { readonly state: "vulnerable"; readonly found: readonly string[] }
  | { readonly state: "unasked"; readonly why: string };

/** Reports known vulnerabilities of every package in the lock files. An unreachable registry is named, and fails nothing. */
export async function audit(): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const file of LOCK_FILES) outcomes.push(judgedOutcome(file, await auditOf(join(checkout, dirname(file)))));
  return outcomes;
}

function judgedOutcome(file: string, found: Audit): Outcome {
  if (found.state === "unasked") {
    console.log(`${file} could not be audited: ${found.why}`);
    return outcomeOf("audit", { skipped: 1 });
  }
  const title = `no known vulnerability in ${file}`;
  if (found.state === "clean") {
    console.log(`ok   ${title}`);
    return outcomeOf("audit", { passed: 1 });
  }
  const message = found.found.join("\n");
  console.log(`FAIL ${title}\n${message}`);
  return outcomeOf("audit", { failures: [{ title, message }] });
}

/** npm's findings on the lock file in that folder, from `registry` or npm's configured one. */
export async function auditOf(folder: string, registry?: string): Promise<Audit> {
  const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const args = [
    "audit",
    "--json",
    "--package-lock-only",
    ...patience,
    ...(registry === undefined ? [] : ["--registry", registry]),
  ];
  const printed = await new Promise<string>((resolve) => {
    execFile("npm", args, { cwd: folder, timeout: DEADLINE_MS, maxBuffer: 2 ** 26 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
  return judged(printed);
}

interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  /** Texts are names of vulnerable packages that this one needs. */
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

function judged(printed: string): Audit {
  const report = parsed(printed);
  if (report?.auditReportVersion === undefined) {
    return { state: "unasked", why: report?.message ?? "npm said nothing that can be read" };
  }
  const found = Object.values(report.vulnerabilities ?? {}).map(({ name, severity, via }) => {
    const known = via.map((one) => (typeof one === "string" ? `by ${one}` : `${one.title} (${one.url})`));
    return `${name}: ${severity}: ${known.join("; ")}`;
  });
  return found.length === 0 ? { state: "clean" } : { state: "vulnerable", found };
}

function parsed(text: string): Report | undefined {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return undefined;
  }
}
