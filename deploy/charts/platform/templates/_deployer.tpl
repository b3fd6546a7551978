{{/* Where the account of Argo CD's application controller is. */}}
{{- define "deployer.accountNamespace" -}}
{{ .Values.deployer.serviceAccount.namespace | default (include "platform.deployerNamespace" .) }}
{{- end }}

{{/* Argo CD's application controller, as the API server names it in a request. */}}
{{- define "deployer.username" -}}
system:serviceaccount:{{ include "deployer.accountNamespace" . }}:{{ .Values.deployer.serviceAccount.name }}
{{- end }}

{{/*
Fails where the cluster has no such account: what is meant for Argo CD would hold for nobody, and nothing would tell.
Whoever renders without asking a cluster (`helm template`) sees none of its namespaces, and is believed.
*/}}
{{- define "deployer.assertAccount" -}}
{{- $namespace := include "deployer.accountNamespace" . -}}
{{- $name := .Values.deployer.serviceAccount.name -}}
{{- if lookup "v1" "Namespace" "" (include "platform.deployerNamespace" .) }}
{{- if not (lookup "v1" "ServiceAccount" $namespace $name) }}
{{- fail (printf "the cluster has no ServiceAccount '%s' in the namespace '%s': set deployer.serviceAccount to the name and the namespace of the one that Argo CD's application controller runs as" $name $namespace) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
What the chart of an environment may make, as operator/adapters/argocd/objects.ts has it in the projects: in that order,
with the names of their resources.
*/}}
{{- define "deployer.kinds" -}}
- {group: apps, kind: Deployment, resource: deployments}
- {group: apps, kind: StatefulSet, resource: statefulsets}
- {group: batch, kind: Job, resource: jobs}
- {group: batch, kind: CronJob, resource: cronjobs}
- {group: "", kind: Service, resource: services}
- {group: networking.k8s.io, kind: Ingress, resource: ingresses}
- {group: gateway.networking.k8s.io, kind: HTTPRoute, resource: httproutes}
- {group: "", kind: ConfigMap, resource: configmaps}
- {group: "", kind: PersistentVolumeClaim, resource: persistentvolumeclaims}
- {group: "", kind: ServiceAccount, resource: serviceaccounts}
- {group: autoscaling, kind: HorizontalPodAutoscaler, resource: horizontalpodautoscalers}
- {group: policy, kind: PodDisruptionBudget, resource: poddisruptionbudgets}
{{- end }}

{{/* The same as a CEL list, as a project has it. */}}
{{- define "deployer.whitelist" -}}
{{- $items := list }}
{{- range include "deployer.kinds" . | fromYamlArray }}
{{- $items = append $items (printf "{'group': '%s', 'kind': '%s'}" .group .kind) }}
{{- end -}}
[{{ $items | join ", " }}]
{{- end }}

{{/* How the operator names the cluster to Argo CD, as a CEL string. */}}
{{- define "deployer.server" -}}
'{{ (.Values.settings.deployer | default dict).clusterServer | default "https://kubernetes.default.svc" }}'
{{- end }}

{{/*
Conditions that hold where a request of the platform leaves a field as it is: what others wrote there it need not judge,
and Argo CD's status shares the object with what is wanted.
*/}}
{{- define "deployer.keepsSpec" -}}
request.operation == 'UPDATE' && object.spec == oldObject.spec
{{- end }}
{{- define "deployer.keepsStatus" -}}
request.operation == 'UPDATE' ? object.?status == oldObject.?status : !has(object.status)
{{- end }}
