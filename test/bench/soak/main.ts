/**
 * People use the running local cluster for a while, at a steady rate, as on a busy day: they create, push, extend, suspend,
 * resume and delete environments, read lists, logs and costs, and webhooks of their pull requests come in any order. For the
 * first part of it programs are killed and frozen. In the end everything has to be as people left it, and nothing may remain of
 * what they deleted; for the last part the operator's memory and handles are compared with those of a program that only reads.
 */
import { optionsOf, runBenchmark } from "../run-benchmark.ts";
import { measureSoak } from "./soak.ts";

const options = optionsOf(
  {
    minutes: { value: "5", help: "how long people work" },
    people: { value: "6", help: "how many there are; each does something every four seconds" },
    seed: { value: String(Date.now() % 2 ** 31), help: "draws what happens" },
  },
  "The local cluster must run: 'make up'. Its programs are killed and frozen, so use it for nothing else meanwhile.",
);

await runBenchmark((openings) =>
  measureSoak(openings, {
    minutes: Number(options.minutes),
    people: Number(options.people),
    seed: Number(options.seed),
  }),
);
