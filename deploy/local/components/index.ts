import { accessComponent, apiServerComponent, etcdComponent, rolesComponent } from "./api-server.ts";
import { applicationControllerComponent, deployerSettingsComponent } from "./application-controller.ts";
import type { ClusterComponent } from "./component.ts";
import { containerdComponent } from "./container-runtime.ts";
import { controllerManagerComponent, schedulerComponent } from "./controllers.ts";
import { dnsComponent } from "./dns.ts";
import { forwardsComponent } from "./forwards.ts";
import { gitServerComponent } from "./git-server.ts";
import { identityComponent } from "./identity.ts";
import { imagesComponent } from "./images.ts";
import { ingressComponent } from "./ingress.ts";
import { forwardingNetworkComponent, networkComponent } from "./network.ts";
import { kubeletComponent, kubeProxyComponent } from "./node.ts";
import {
  gateComponent,
  gateTokenComponent,
  manifestsComponent,
  operatorComponent,
  platformComponent,
  platformTokenComponent,
} from "./platform.ts";
import { redisComponent } from "./redis.ts";
import { repoServerComponent } from "./repo-server.ts";
import { storageComponent } from "./storage.ts";

const platform: readonly ClusterComponent[] = [
  manifestsComponent,
  platformComponent,
  platformTokenComponent,
  operatorComponent,
  gateTokenComponent,
  gateComponent,
];

/** The cluster with the platform and everything that it needs. */
export const components: readonly ClusterComponent[] = [
  networkComponent,
  etcdComponent,
  apiServerComponent,
  rolesComponent,
  accessComponent,
  containerdComponent,
  imagesComponent,
  controllerManagerComponent,
  schedulerComponent,
  kubeProxyComponent,
  kubeletComponent,
  storageComponent,
  dnsComponent,
  redisComponent,
  repoServerComponent,
  deployerSettingsComponent,
  applicationControllerComponent,
  ingressComponent,
  gitServerComponent,
  identityComponent,
  ...platform,
];

/**
 * The cluster for a platform that is installed as on any other: without our platform, and open to the installed one's pods.
 */
export const bareComponents: readonly ClusterComponent[] = [
  ...components
    .filter((component) => !platform.includes(component))
    .map((component) => (component === networkComponent ? forwardingNetworkComponent : component)),
  forwardsComponent,
];
