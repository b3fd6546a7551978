import { accessPart, apiServerPart, etcdPart } from "./api-server.ts";
import { containerdPart } from "./container-runtime.ts";
import { controllerManagerPart, schedulerPart } from "./controllers.ts";
import { applicationControllerPart, deployerSettingsPart } from "./deployer.ts";
import { dnsPart } from "./dns.ts";
import { gitHostPart } from "./git-host.ts";
import { identityPart } from "./identity.ts";
import { imagesPart } from "./images.ts";
import { ingressPart } from "./ingress.ts";
import { networkPart } from "./network.ts";
import { kubeletPart, kubeProxyPart } from "./node.ts";
import type { Part } from "./part.ts";
import { operatorPart, platformPart, platformTokenPart } from "./platform.ts";
import { redisPart } from "./redis.ts";
import { repoServerPart } from "./repo-server.ts";
import { storagePart } from "./storage.ts";

/** The cluster itself, with all that the platform needs around it. */
export const clusterParts: readonly Part[] = [
  networkPart,
  etcdPart,
  apiServerPart,
  accessPart,
  containerdPart,
  imagesPart,
  controllerManagerPart,
  schedulerPart,
  kubeProxyPart,
  kubeletPart,
  storagePart,
  dnsPart,
  redisPart,
  repoServerPart,
  deployerSettingsPart,
  applicationControllerPart,
  ingressPart,
  gitHostPart,
  identityPart,
];

/** The platform on it. */
export const platformParts: readonly Part[] = [platformPart, platformTokenPart, operatorPart];
