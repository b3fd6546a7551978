import type { ContainerStatus, Pod } from "../kubernetes/pod-objects.ts";

/** One run of one container, whose log the kubelet has. */
export interface LogSource {
  readonly pod: Pod;
  readonly container: string;
  /** The container among all of a component's. */
  readonly key: string;
  /** Which of its runs, counted from 0. */
  readonly run: number;
  /** Whether it is asked for as the one before; the kubelet keeps no more than that one. */
  readonly isPrevious: boolean;
  readonly isRunning: boolean;
}

/** All that can be read of these pods, of each container the older run first. */
export function logSources(pods: readonly Pod[]): readonly LogSource[] {
  return pods.flatMap((pod) =>
    [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].flatMap((container) =>
      runsOf(pod, container),
    ),
  );
}

function runsOf(pod: Pod, { name, restartCount, state, lastState }: ContainerStatus): LogSource[] {
  const container = { pod, container: name, key: `${pod.metadata.uid}/${name}`, isPrevious: false };
  const isRunning = state?.running !== undefined;
  const hasEndedBefore = lastState?.terminated !== undefined;
  if (!isRunning && state?.terminated === undefined) {
    // While it waits to be started again, the run that ended is the last one.
    return hasEndedBefore ? [{ ...container, run: restartCount, isRunning }] : [];
  }
  const former = { ...container, run: restartCount - 1, isPrevious: true, isRunning: false };
  return [...(hasEndedBefore ? [former] : []), { ...container, run: restartCount, isRunning }];
}
