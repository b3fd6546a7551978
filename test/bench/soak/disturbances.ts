import { setTimeout as pause } from "node:timers/promises";
import { clusterFolder } from "../../../deploy/local/folders.ts";
import { runningProcess, sendSignal } from "../../../deploy/local/processes/process.ts";

/** A program of the local cluster, and for how long it is frozen; without a time it is killed, and its supervisor starts it again. */
interface Disturbance {
  readonly program: string;
  readonly frozenMs?: number;
}

/** Freezes end within the time after which a leader has to hand over, and beyond it. */
const DISTURBANCES: readonly Disturbance[] = [
  { program: "operator" },
  { program: "operator", frozenMs: 5_000 },
  { program: "operator", frozenMs: 25_000 },
  { program: "gate" },
  { program: "gate", frozenMs: 5_000 },
  { program: "kube-apiserver", frozenMs: 5_000 },
  { program: "etcd", frozenMs: 3_000 },
  { program: "kube-controller-manager" },
  { program: "argocd-application-controller" },
  { program: "argocd-application-controller", frozenMs: 15_000 },
  { program: "argocd-repo-server", frozenMs: 15_000 },
];

const EVERY_MS = 15_000;

interface Surroundings {
  readonly random: () => number;
  /** Called with each disturbance that took place. */
  readonly note: (line: string) => void;
  readonly end: AbortSignal;
}

/** @throws Error when a program does not run, which none of the disturbances would meet */
export async function expectPrograms(): Promise<void> {
  for (const { program } of DISTURBANCES) {
    if ((await runningProcess(clusterFolder, program)) === undefined) throw new Error(`${program} does not run`);
  }
}

/** Disturbs one program after the other until the end; all of them run again afterwards. */
export async function disturb({ random, note, end }: Surroundings): Promise<void> {
  while (!end.aborted) {
    const rest = calm(EVERY_MS, end);
    const line = await act(DISTURBANCES[Math.floor(random() * DISTURBANCES.length)] as Disturbance, end);
    if (line !== undefined) note(line);
    await rest;
  }
}

/** Pause that the end of the disturbances ends, too. */
const calm = (ms: number, end: AbortSignal) => pause(ms, undefined, { signal: end }).catch(() => undefined);

/** The disturbance in words; `undefined` for a program that has just ended. */
async function act({ program, frozenMs }: Disturbance, end: AbortSignal): Promise<string | undefined> {
  const running = await runningProcess(clusterFolder, program);
  if (running === undefined) return undefined;
  if (frozenMs === undefined) {
    sendSignal(running.pid, "SIGKILL");
    await resetDelays();
    return `${program} killed`;
  }
  sendSignal(running.pid, "SIGSTOP");
  try {
    await calm(frozenMs, end);
  } finally {
    sendSignal(running.pid, "SIGCONT");
  }
  return `${program} frozen for ${frozenMs / 1000} s`;
}

/** The supervisor waits longer before each start of what ends often. */
async function resetDelays(): Promise<void> {
  const supervisor = await runningProcess(clusterFolder, "supervisor");
  if (supervisor !== undefined) sendSignal(supervisor.pid, "SIGHUP");
}
