const least = {
  settings: {
    baseDomain: "env.example.test",
    defaultChart: { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" },
  },
  image: { repository: "registry.example.test/platform" },
};

/** Values of the platform chart, each with objects that an API server treats differently. */
export const platformValues: Readonly<Record<string, object>> = {
  "the least values": least,
  "everything on": {
    ...least,
    createNamespace: true,
    image: { ...least.image, tag: "1.2.3", pullPolicy: "Always", pullSecrets: [{ name: "registry" }] },
    operator: {
      replicas: 3,
      podLabels: { team: "platform" },
      podAnnotations: { "example.test/reviewed": "yes" },
      env: [{ name: "OTEL_EXPORTER_OTLP_HEADERS", valueFrom: { secretKeyRef: { name: "otel", key: "headers" } } }],
      volumes: [{ name: "redis", secret: { secretName: "redis" } }],
      volumeMounts: [{ name: "redis", mountPath: "/etc/redis", readOnly: true }],
      nodeSelector: { pool: "system" },
      tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }],
      priorityClassName: "system-cluster-critical",
    },
    exposure: {
      host: "platform.example.test",
      ingress: { enabled: true, className: "nginx", tlsSecretName: "platform-tls", annotations: { a: "b" } },
      httpRoute: { enabled: true, parentRefs: [{ name: "public", namespace: "gateways", sectionName: "https" }] },
    },
    gate: {
      enabled: true,
      replicas: 3,
      env: [{ name: "NODE_OPTIONS", value: "--max-http-header-size=32768" }],
      volumes: [{ name: "authority", configMap: { name: "authority" } }],
      volumeMounts: [{ name: "authority", mountPath: "/etc/authority", readOnly: true }],
      ingress: { enabled: true, className: "nginx", tlsSecretName: "wildcard" },
      httpRoute: { enabled: true, parentRefs: [{ name: "public", namespace: "gateways", sectionName: "https" }] },
    },
    roles: { aggregateToView: true, aggregateToAdmin: true },
    metrics: {
      podMonitor: { enabled: true },
      rules: { enabled: true },
      dashboards: { enabled: true, annotations: { grafana_folder: "Platform" } },
      labels: { release: "stack" },
    },
    serviceAccount: { annotations: { "iam.gke.io/gcp-service-account": "platform@my-project-42.example.test" } },
    environments: {
      ingressAnnotations: ["cert-manager.io/*"],
      chartRepositories: ["https://git.example.test/charts/*"],
      pods: {
        tolerations: [{ key: "dedicated", value: "environments", effect: "NoSchedule" }],
        schedulers: ["bin-packing"],
        csiDrivers: ["secrets-store.csi.k8s.io"],
        tokenAudiences: ["sts.amazonaws.com"],
        automountServiceAccountToken: true,
      },
      storageClasses: ["fast"],
      claimDataSources: ["snapshot.storage.k8s.io/VolumeSnapshot"],
      ingressClasses: ["internal"],
      gateways: ["gateways/public"],
      serviceAccountAnnotations: ["eks.amazonaws.com/*"],
      finalizers: ["x.example.test/kept"],
      drainBlockingBudgets: true,
    },
    deployer: { otherNamespaces: ["env-prod", "env-stage"] },
    networkPolicy: { egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] }] },
  },
  "constraints and an affinity of one's own": {
    ...least,
    operator: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "arch", operator: "In", values: ["amd64"] }] }],
          },
        },
      },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" },
      ],
    },
    gate: { enabled: true },
    metrics: { serviceMonitor: { enabled: true } },
    networkPolicy: { probesFrom: [], apiFrom: [{ podSelector: { matchLabels: { app: "proxy" } } }] },
  },
  "an operator that runs elsewhere": {
    ...least,
    operator: { enabled: false },
    gate: { enabled: true, ingress: { enabled: true } },
    flowControl: { enabled: false },
  },
  "other names, and another secret manager": {
    ...least,
    settings: {
      ...least.settings,
      secretManager: { kind: "google", project: "my-project-42" },
      secretsNamespace: "vault",
      serviceAccount: "robot",
      deployer: { namespace: "cd", clusterServer: "https://cluster.example.test" },
      api: { trustedProxies: ["10.0.0.0/28"] },
    },
    check: { enabled: false },
    networkPolicy: { enabled: false },
  },
};
