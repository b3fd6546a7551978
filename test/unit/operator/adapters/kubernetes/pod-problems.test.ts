import { describe, expect, test } from "@jest/globals";
import type { Pod } from "../../../../../operator/adapters/kubernetes/pod-objects.ts";
import { findingsOf, type PodFinding } from "../../../../../operator/adapters/kubernetes/pod-problems.ts";
import type { Resource } from "../../../../../operator/adapters/kubernetes/resource-states.ts";
import {
  BORN,
  EXCEEDED,
  ended,
  looping,
  NOW,
  PULL,
  pod,
  refusedDeployment,
  running,
  UNREADY,
  unbound,
  unschedulable,
  waiting,
} from "./broken-pods.ts";

interface Expected {
  readonly reason: string;
  readonly component?: string;
  readonly sentence: RegExp;
  readonly said?: string;
  readonly speaks?: boolean | undefined;
}

const cases: readonly {
  name: string;
  pods?: readonly Pod[];
  deployments?: readonly Resource[];
  expected: readonly Expected[];
}[] = [
  { name: "a ready container is none", pods: [pod({ ready: true, ...running })], expected: [] },
  { name: "a container that is being created is none", pods: [pod(waiting("ContainerCreating"))], expected: [] },
  {
    name: "an image that can't be pulled, in the registry's words",
    pods: [pod(waiting("ErrImagePull", PULL))],
    expected: [
      {
        reason: "ImagePullFailed",
        sentence: /^backend: image 'registry.test\/shop-api:abc' can't be pulled: build/,
        said: PULL,
      },
    ],
  },
  {
    name: "the pause between two pulls is the same trouble in the same words",
    pods: [pod(waiting("ImagePullBackOff", `Back-off pulling image "registry.test/shop-api:abc": ${PULL}`))],
    expected: [{ reason: "ImagePullFailed", sentence: /can't be pulled/, said: PULL }],
  },
  {
    name: "an image's name that is none",
    pods: [pod(waiting("InvalidImageName"))],
    expected: [{ reason: "ImagePullFailed", sentence: /correct image.repository/ }],
  },
  {
    name: "a Secret that is missing",
    pods: [pod(waiting("CreateContainerConfigError", 'secret "environment-secrets-1" not found'))],
    expected: [
      {
        reason: "ContainerMisconfigured",
        sentence: /can't be created/,
        said: 'secret "environment-secrets-1" not found',
      },
    ],
  },
  {
    name: "two ends are no loop yet",
    pods: [pod({ ...looping, restartCount: 2 })],
    expected: [],
  },
  {
    name: "a crash loop between two starts: the ended run is the current one",
    pods: [pod(looping)],
    expected: [
      {
        reason: "CrashLoop",
        sentence: /container 'backend' of image '.*' ends soon after every start \(exit code 2\)/,
        speaks: false,
      },
    ],
  },
  {
    name: "a crash loop that just started again: the ended run is the previous one, and the words are the same",
    pods: [pod({ ...looping, ...running })],
    expected: [{ reason: "CrashLoop", sentence: /ends soon after every start \(exit code 2\)/, speaks: true }],
  },
  {
    name: "that ended at a unknown moment",
    pods: [
      pod({
        state: { terminated: { exitCode: 3, startedAt: null, finishedAt: null } },
        lastState: {},
        restartCount: 4,
      }),
    ],
    expected: [{ reason: "CrashLoop", sentence: /ends soon after every start \(exit code 3\)/ }],
  },
  {
    name: "a container that has run for ten minutes since it crashed has another trouble",
    pods: [pod({ ...looping, ...running, state: { running: { startedAt: "2025-12-31T23:59:00Z" } } })],
    expected: [{ reason: "ProbeFailing", sentence: /startup probe/ }],
  },
  {
    name: "a container that ended after a long run is no loop, however often it ended before",
    pods: [
      pod({
        ...looping,
        restartCount: 9,
        lastState: { terminated: { exitCode: 1, startedAt: "2025-12-31T23:00:00Z", finishedAt: BORN } },
      }),
    ],
    expected: [],
  },
  {
    name: "too little memory",
    pods: [pod({ ...looping, lastState: ended(137, "OOMKilled") })],
    expected: [{ reason: "CrashLoop", sentence: /needs more memory than its limit of 512Mi \(OOMKilled\)/ }],
  },
  {
    name: "an initial container that crashes is reported, not the one that waits for it",
    pods: [pod(waiting("PodInitializing"), { initial: looping })],
    expected: [{ reason: "CrashLoop", sentence: /container 'migrate'/ }],
  },
  {
    name: "an initial container that works is no trouble",
    pods: [pod(waiting("PodInitializing"), { initial: running })],
    expected: [],
  },
  {
    name: "a startup probe that fails",
    pods: [pod(running)],
    expected: [
      {
        reason: "ProbeFailing",
        sentence: /runs, but its startup probe \(GET \/healthz on port http\) fails/,
        speaks: false,
      },
    ],
  },
  {
    name: "a readiness probe that fails",
    pods: [pod({ ...running, started: true })],
    expected: [{ reason: "ProbeFailing", sentence: /its readiness probe \(GET \/ready on port http\) fails/ }],
  },
  {
    name: "no room on any node",
    pods: [pod(waiting("ContainerCreating"), { phase: "Pending", conditions: [unschedulable] })],
    expected: [{ reason: "Unschedulable", sentence: /no node has room/, said: unschedulable.message }],
  },
  {
    name: "no volume for its claim",
    pods: [pod(waiting("ContainerCreating"), { phase: "Pending", conditions: [unbound], component: "database" })],
    expected: [{ reason: "VolumeMissing", component: "database", sentence: /storage class/, said: unbound.message }],
  },
  {
    name: "no quota left",
    deployments: [refusedDeployment(EXCEEDED)],
    expected: [
      {
        reason: "QuotaExceeded",
        component: "frontend",
        sentence: /^frontend: the environment's quota leaves no room/,
        said: EXCEEDED,
      },
    ],
  },
  {
    name: "pods that the cluster refuses for another reason",
    deployments: [refusedDeployment('pods "frontend-1" is forbidden: violates PodSecurity "restricted:latest"')],
    expected: [{ reason: "PodRefused", component: "frontend", sentence: /refuses to create its pods/ }],
  },
  {
    name: "a refusal of what the Deployment was before says nothing of what it is now",
    deployments: [refusedDeployment(EXCEEDED, 2)],
    expected: [],
  },
  {
    name: "pods of the version before, pods that go and pods that ended don't count",
    pods: [
      pod(looping, { name: "a", maker: "rs-0", born: "2025-12-31T23:00:00Z" }),
      pod(looping, { name: "b", deleted: true }),
      pod(looping, { name: "c", phase: "Failed" }),
      pod({ ready: true, ...running }, { name: "d" }),
    ],
    expected: [],
  },
  {
    name: "one a component, the gravest first",
    pods: [
      pod(running, { name: "a", component: "frontend", maker: "rs-2" }),
      pod(running, { name: "b" }),
      pod(waiting("ErrImagePull", PULL), { name: "c" }),
    ],
    expected: [
      { reason: "ImagePullFailed", sentence: /^backend/ },
      { reason: "ProbeFailing", component: "frontend", sentence: /^frontend/ },
    ],
  },
  {
    name: "without a label the pods are called after their maker",
    pods: [pod(running, { component: "", maker: "worker" })],
    expected: [{ reason: "ProbeFailing", component: "worker", sentence: /^worker/ }],
  },
];

describe("what keeps pods from serving", () => {
  test.each(cases)("$name", ({ pods = [], deployments = [], expected }) => {
    const found = findingsOf({ pods, resources: deployments }, NOW).problems;
    expect(found).toHaveLength(expected.length);
    for (const [index, { component = "backend", sentence, speaks, ...rest }] of expected.entries()) {
      const { what, remedy } = found[index] as PodFinding;
      expect(found[index]).toMatchObject({ component, ...rest });
      expect(`${component}: ${what}: ${remedy}`).toMatch(sentence);
      if (speaks !== undefined) expect(found[index]?.speaker?.isPrevious).toBe(speaks);
    }
  });

  test("counts from when the pod was last ready, or was made", () => {
    expect(findingsOf({ pods: [pod(running)], resources: [] }, NOW).problems[0]?.since).toEqual(new Date(UNREADY));
    const unsaid = [pod(running, { conditions: [] })];
    expect(findingsOf({ pods: unsaid, resources: [] }, NOW).problems[0]?.since).toEqual(new Date(BORN));
  });
});
