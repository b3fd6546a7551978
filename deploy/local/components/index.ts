import { accessComponent, apiServerComponent, etcdComponent } from "./api-server.ts";
import { applicationControllerComponent, deployerSettingsComponent } from "./application-controller.ts";
import type { Component } from "./component.ts";
import { containerdComponent } from "./container-runtime.ts";
import { controllerManagerComponent, schedulerComponent } from "./controllers.ts";
import { dnsComponent } from "./dns.ts";
import { gitServerComponent } from "./git-server.ts";
import { identityComponent } from "./identity.ts";
import { imagesComponent } from "./images.ts";
import { ingressComponent } from "./ingress.ts";
import { networkComponent } from "./network.ts";
import { kubeletComponent, kubeProxyComponent } from "./node.ts";
import { operatorComponent, platformComponent, platformTokenComponent } from "./platform.ts";
import { redisComponent } from "./redis.ts";
import { repoServerComponent } from "./repo-server.ts";
import { storageComponent } from "./storage.ts";

/** The cluster, with all that the platform needs around it, and the platform. */
export const components: readonly Component[] = [
  networkComponent,
  etcdComponent,
  apiServerComponent,
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
  platformComponent,
  platformTokenComponent,
  operatorComponent,
];
