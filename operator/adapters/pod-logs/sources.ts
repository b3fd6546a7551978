import type { ContainerStatus, Pod } from "../kubernetes/pod-objects.ts";

/** One run of one container, with its log in the kubelet. */
export interface LogSource {
  readonly pod: Pod;
  readonly container: string;
  /** Key among all containers of a component. */
  readonly key: string;
  /** Number of the run, from 0. */
  readonly run: number;
  /** True for the previous run; the kubelet keeps no older one. */
  readonly isPrevious: boolean;
  readonly isRunning: boolean;
}

/** All readable runs of these pods, older first per container. */
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
    // Before its restart, the ended run is the last one.
    return hasEndedBefore ? [{ ...container, run: restartCount, isRunning }] : [];
  }
  const former = { ...container, run: restartCount - 1, isPrevious: true, isRunning: false };
  return [...(hasEndedBefore ? [former] : []), { ...container, run: restartCount, isRunning }];
}
