/**
 * Measures the load of a seed, and a copy of a database, as the chart's Job makes them, beside psql, pg_restore and
 * pg_dump | pg_restore by hand: for an empty database that is made and started, until the rows are there, and for the load alone.
 * Both run the same programs, by turns. It needs Linux and root, as the local cluster does, whose image of PostgreSQL it takes.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { run } from "../../deploy/build/run.ts";
import { buildPostgresqlImage } from "../../deploy/local/builds/postgresql.ts";
import { optionsOf, runBenchmark } from "./run-benchmark.ts";
import { median } from "./table.ts";
import type { Verdict } from "./verdict.ts";

const MOST_BESIDE_BY_HAND = 1.3;
/** A user of every Linux: PostgreSQL does not run as root. */
const UNPRIVILEGED = 65_534;

const options = optionsOf(
  {
    rows: { value: "200000", help: "rows of the seed" },
    rounds: { value: "5", help: "loads of each kind" },
    programs: {
      value: "",
      help: "folder with the programs of a PostgreSQL; that of the local cluster's image when empty",
    },
  },
  "A copy comes from a server on loopback.",
);

const FORMATS = ["sql", "dump", "copy"] as const;
type Format = (typeof FORMATS)[number];

const scripts = join(import.meta.dirname, "../../deploy/charts/environment/files");
const script = (name: string) => readFile(join(scripts, `${name}.sh`), "utf8");

/** Unpacks the programs of an image's archive, and answers their folder. */
async function unpackedPrograms(archive: string, folder: string): Promise<string> {
  await run("tar", ["--extract", "--file", archive, "--directory", folder]);
  const blob = (digest: string) => join(folder, "blobs", digest.replace(":", "/"));
  const read = async (file: string) => JSON.parse(await readFile(file, "utf8"));
  const { manifests } = await read(join(folder, "index.json"));
  const { layers } = await read(blob(manifests[0].digest));
  const root = join(folder, "root");
  await mkdir(root);
  for (const { digest } of layers) await run("tar", ["--extract", "--file", blob(digest), "--directory", root]);
  return join(root, "usr/lib/postgresql/bin");
}

const LINE = "with a text that is about as long as those of most tables";

function statementsOf(rows: number): string {
  const lines = Array.from({ length: rows }, (_, id) => `${id}\tcustomer ${id}\t${(id * 7) % 10_000}\t${LINE}`);
  return [
    "CREATE TABLE orders (id integer PRIMARY KEY, customer text NOT NULL, cents integer NOT NULL, note text);",
    "COPY orders FROM stdin;",
    ...lines,
    "\\.",
    "CREATE INDEX ON orders (customer);\n",
  ].join("\n");
}

/** Programs and folders of a measurement. */
class Bench {
  readonly folder: string;
  readonly programs: string;
  /** Folders of the servers that run until the end. */
  readonly started: string[] = [];

  constructor(folder: string, programs: string) {
    this.folder = folder;
    this.programs = programs;
  }

  async stop(): Promise<void> {
    for (const PGDATA of this.started) await this.run(STOP, { PGDATA });
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Runs a shell script as PostgreSQL's user, and answers its milliseconds. */
  async run(commands: string, variables: Readonly<Record<string, string>> = {}, ...args: string[]): Promise<number> {
    const env = {
      PATH: `${this.programs}:/usr/bin:/bin`,
      HOME: this.folder,
      PGHOST: this.folder,
      PGPORT: "54329",
      DATABASE_USER: "app",
      DATABASE_NAME: "app",
      ...variables,
    };
    const begin = performance.now();
    const child = spawn("/bin/sh", ["-c", commands, "bench", ...args], {
      cwd: this.folder,
      env,
      uid: UNPRIVILEGED,
      gid: UNPRIVILEGED,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    if (code !== 0) throw new Error(`exit status ${code}: ${said}`);
    return performance.now() - begin;
  }

  path(name: string): string {
    return join(this.folder, name);
  }
}

const SERVER =
  'pg_ctl --silent --wait --log="$PGHOST/server.log" --pgdata="$PGDATA" --options="-c listen_addresses= -c unix_socket_directories=$PGHOST" start';
const STOP = 'pg_ctl --silent --wait --mode=fast --pgdata="$PGDATA" stop';
/** Addresses of the servers that copies come from: one has the rows, and one an empty database. */
const SOURCES = { seed: "127.0.0.1", none: "127.0.0.2" } as const;

const RESTORE = "pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname=app";
/** Commands of a load by hand: the same role, in one transaction as well. */
const BY_HAND: Readonly<Record<Format, string>> = {
  sql: 'psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --single-transaction --file="$SEED_FILE"',
  dump: `${RESTORE} "$SEED_FILE"`,
  copy: `pg_dump --host=${SOURCES.seed} --format=custom --compress=0 --no-owner --no-privileges | ${RESTORE}`,
};

interface Times {
  /** Until a database with the rows is stopped, in milliseconds. */
  readonly whole: number;
  readonly load: number;
}

/** The Job of the chart; what it takes without rows is no part of the load. */
async function bySeed(bench: Bench, format: Format): Promise<Times> {
  const [commands, empty] = await Promise.all([script("seed"), script("create-database")]);
  const load = async (rows: keyof typeof SOURCES) => {
    const variables = {
      PGDATA: bench.path("new"),
      DATABASE_FOLDER: bench.path("data"),
      SEED_ID: "1",
      SEED_FORMAT: format,
    };
    const origin =
      format === "copy"
        ? { COPY_HOST: SOURCES[rows], DATABASE_PASSWORD: "app" }
        : { SEED_FILE: bench.path(`${rows}.${format}`) };
    const ms = await bench.run(commands, { ...variables, ...origin }, empty);
    await rm(bench.path("data"), { recursive: true });
    return ms;
  };
  const whole = await load("seed");
  return { whole, load: whole - (await load("none")) };
}

async function byHand(bench: Bench, format: Format): Promise<Times> {
  const PGDATA = bench.path("hand");
  const login = { PGUSER: "app", PGDATABASE: "app", PGPASSWORD: "app", SEED_FILE: bench.path(`seed.${format}`) };
  const trusted = 'printf "local all all trust\\n" > "$PGDATA/pg_hba.conf"';
  const made = await bench.run(`${await script("create-database")}\n${trusted}`, { PGDATA });
  const started = await bench.run(SERVER, { PGDATA });
  const load = await bench.run(BY_HAND[format], login);
  const stopped = await bench.run(STOP, { PGDATA });
  await rm(PGDATA, { recursive: true });
  return { whole: made + started + load + stopped, load };
}

/** Servers that the Job copies from, on loopback alone. */
const LISTENING =
  'pg_ctl --silent --wait --log="$PGDATA.log" --pgdata="$PGDATA" --options="-c listen_addresses=$ADDRESS -c unix_socket_directories=$PGDATA" start';

/** Starts the sources of copies, and writes the seeds: with the rows, and without any. */
async function writeSeeds(bench: Bench, rows: number): Promise<void> {
  await writeFile(bench.path("seed.sql"), statementsOf(rows));
  await writeFile(bench.path("none.sql"), "");
  const trusted = 'printf "local all all trust\\nhost all all all trust\\n" > "$PGDATA/pg_hba.conf"';
  for (const [name, address] of Object.entries(SOURCES)) {
    const PGDATA = bench.path(`source-${name}`);
    const files = { SEED_FILE: bench.path(`${name}.sql`), DUMP: bench.path(`${name}.dump`) };
    const login = { PGDATA, PGHOST: PGDATA, ADDRESS: address, PGUSER: "app", PGDATABASE: "app", ...files };
    await bench.run(`${await script("create-database")}\n${trusted}\n${LISTENING}`, login);
    bench.started.push(PGDATA);
    await bench.run(`${BY_HAND.sql} && pg_dump --format=custom --file="$DUMP"`, login);
  }
}

async function opened(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), "bench-seed-"));
  const step = <T>(_name: string, work: () => Promise<T>) => work();
  const programs = options.programs || (await unpackedPrograms(await buildPostgresqlImage({ step }), folder));
  // After tar, which gives the folder what the archive says of it.
  await chmod(folder, 0o755);
  await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
  return new Bench(folder, programs);
}

const medianOf = (times: readonly Times[], part: keyof Times) => median(times.map((one) => one[part]));

function verdictOf(
  format: Format,
  part: keyof Times,
  { seeded, hand }: Record<"seeded" | "hand", readonly Times[]>,
): Verdict {
  const [ours, theirs] = [medianOf(seeded, part), medianOf(hand, part)];
  const program = { sql: "psql", dump: "pg_restore", copy: "pg_dump | pg_restore" }[format];
  const data = format === "copy" ? "a copy" : `a seed (${format})`;
  return {
    what:
      part === "whole" ? `a database with ${data}, beside an empty one and ${program}` : `the load alone (${format})`,
    figure: ours / theirs,
    limit: MOST_BESIDE_BY_HAND,
    unit: "×",
    detail: `medians of ${seeded.length}: ${Math.round(ours)} ms beside ${Math.round(theirs)} ms by hand`,
  };
}

await runBenchmark(async ({ open }) => {
  const bench = await open(opened());
  const verdicts: Verdict[] = [];
  await writeSeeds(bench, Number(options.rows));
  for (const format of FORMATS) {
    const seeded: Times[] = [];
    const hand: Times[] = [];
    for (let round = 0; round < Number(options.rounds); round += 1) {
      hand.push(await byHand(bench, format));
      seeded.push(await bySeed(bench, format));
    }
    verdicts.push(verdictOf(format, "whole", { seeded, hand }), verdictOf(format, "load", { seeded, hand }));
  }
  return verdicts;
});
