import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Mask, SecretMasks } from "../../masking/secret-mask.ts";
import type { Pod } from "../kubernetes/pod-objects.ts";
import { maskFor } from "./reading.ts";

/** Secrets of the pods that one reader follows: pods come and go, and values that one of them saw stay masked. */
export class FollowedSecrets {
  readonly #client: KubeClient;
  readonly #masks: SecretMasks;
  readonly #known = new Set<string>();
  readonly #unmaskable = new Set<string>();
  readonly #values = new Set<string>();
  #mask: Mask;

  constructor(client: KubeClient, masks: SecretMasks) {
    this.#client = client;
    this.#masks = masks;
    this.#mask = masks.of([]);
  }

  get mask(): Mask {
    return this.#mask;
  }

  /** True when a pod's secrets are unreadable, so that its log must not be shown. */
  isUnmaskable({ metadata }: Pod): boolean {
    return this.#unmaskable.has(metadata.uid);
  }

  /** Reads the secrets of new pods. @returns those that can't be masked */
  async learn(pods: readonly Pod[]): Promise<readonly Pod[]> {
    const added = pods.filter(({ metadata }) => !this.#known.has(metadata.uid));
    const { values, unmaskable } = await maskFor(this.#client, added);
    const before = this.#values.size;
    for (const value of values) this.#values.add(value);
    if (this.#values.size > before) this.#mask = this.#masks.of(this.#values);
    for (const { metadata } of added) this.#known.add(metadata.uid);
    for (const uid of unmaskable) this.#unmaskable.add(uid);
    return added.filter((pod) => this.isUnmaskable(pod));
  }
}
