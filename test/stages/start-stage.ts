import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkout, node } from "./command.ts";
import { type Failure, failedStage, type Outcome } from "./outcome.ts";
import type { StageReply, StageRequest } from "./stage-process.ts";

export interface StageStart {
  /** The URL of the module that exports the groups. */
  readonly list: string;
  readonly names: readonly string[];
  /** The file for all output of the stages and their programs. */
  readonly logFile: string;
  /** The folder for logs of the stages' programs, a folder each. */
  readonly programLogs: string;
  /** True: the output is shown at once; otherwise by `show`. */
  readonly inView: boolean;
  readonly isWhole: boolean;
  readonly files?: readonly string[];
}

/** A running group of stages. */
export interface StartedStage {
  /** Outcomes and duration. Never rejects: a process that ends without outcomes has failed. */
  readonly ended: Promise<{ readonly outcomes: readonly Outcome[]; readonly seconds: number }>;
  /** Announces the end of the stages beside it. */
  endOfOthers(): void;
  /** Shows the output, when it was not in view. */
  show(): void;
}

/** Lines of output at the end of a whole stage's failure. */
const TAIL_LINES = 7;

/** Starts a group of stages in a separate process. */
export function startStage(start: StageStart): StartedStage {
  const { list, names, logFile, programLogs, inView, isWhole, files } = start;
  const color = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const began = performance.now();
  const child = spawn(node, [join(import.meta.dirname, "stage-process.ts"), list, ...names], {
    cwd: checkout,
    env: { ...process.env, ...color, PROGRAM_LOGS: programLogs },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const log = createWriteStream(logFile, { flags: "a" });
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      log.write(chunk);
      if (inView) process.stdout.write(chunk);
    });
  const say = (request: StageRequest) => void (child.connected && child.send(request));
  say({ kind: "run", isWhole, files });
  const ended = replyOf(child, names.join(", ")).then(async (reply) => {
    await new Promise<void>((resolve) => void log.end(resolve));
    return { outcomes: withCauses(reply, logFile), seconds: (performance.now() - began) / 1000 };
  });
  return {
    ended,
    endOfOthers: () => say({ kind: "others are over" }),
    show: () => void process.stdout.write(readFileSync(logFile)),
  };
}

/** The child's reply after all its output, or a failure of the stage when it ended without one. */
function replyOf(child: ChildProcess, stage: string): Promise<StageReply> {
  let reply: StageReply | undefined;
  child.on("message", (message: StageReply) => {
    reply = message;
  });
  const { promise, resolve } = Promise.withResolvers<StageReply>();
  child.on("error", (error) => resolve([failedStage(stage, { message: `it can't be started: ${error.message}` })]));
  child.on("close", (code, signal) => {
    const how = signal === null ? `with ${code}` : `by ${signal}`;
    const message = `ended ${how} before it sent its outcomes.`;
    resolve(reply ?? [failedStage(stage, { message, causeInOutput: true })]);
  });
  return promise;
}

/** The outcomes, with the end of the output below the messages whose cause it has. */
function withCauses(outcomes: readonly Outcome[], logFile: string): readonly Outcome[] {
  const output = readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const withCause = ({ causeInOutput, message, ...rest }: Failure): Failure =>
    causeInOutput ? { ...rest, message: `${message} The output ends:\n${output}` } : { ...rest, message };
  return outcomes.map((outcome) => ({ ...outcome, failures: outcome.failures.map(withCause) }));
}
