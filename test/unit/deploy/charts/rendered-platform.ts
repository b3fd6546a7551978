import { parse } from "yaml";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { renderChart } from "../../../../deploy/local/kubernetes/helm.ts";

export const settings = {
  baseDomain: "env.example.test",
  defaultChart: { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" },
};
export const release = { chart: "platform", release: "platform", namespace: "ephemeral-system" } as const;
export const image = { repository: "registry.example.test/platform" };

/** The required values of the platform chart, with those given. */
export const values = (given: object = {}): object => ({ settings, image, ...given });

/** The objects of the platform chart with these values. */
export function rendered(given: object = {}, namespace = "ephemeral-system"): Promise<Manifest[]> {
  return renderChart({ ...release, namespace, values: values(given) });
}

/** The settings in the rendered ConfigMap. */
export function settingsOf(objects: readonly Manifest[]): unknown {
  const [found] = objects.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "settings");
  const data = found?.data as Record<string, string> | undefined;
  return parse(data?.["settings.yaml"] ?? "");
}
