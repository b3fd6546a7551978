{{/* Where the account of Argo CD's application controller is. */}}
{{- define "deployer.accountNamespace" -}}
{{ .Values.deployer.serviceAccount.namespace | default (include "platform.deployerNamespace" .) }}
{{- end }}

{{/* Argo CD's application controller, as the API server names it in a request. */}}
{{- define "deployer.username" -}}
system:serviceaccount:{{ include "deployer.accountNamespace" . }}:{{ .Values.deployer.serviceAccount.name }}
{{- end }}

{{/*
Fails where the cluster has no such account: what is meant for Argo CD would hold for no account, and nothing would show it.
`helm template` asks no cluster: it sees no namespaces, and the values are believed.
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
{{/*
The one thing that the platform says in a status: that the operation which runs is to end, as `argocd app terminate-op` does.
All else of the status stays.
*/}}
{{- define "deployer.endsOperation" -}}
request.operation == 'UPDATE' && has(object.status) && has(oldObject.status) && has(object.status.operationState) && has(oldObject.status.operationState) && object.status.operationState.?phase == optional.of('Terminating') && oldObject.status.operationState.?phase == optional.of('Running') && object.status.all(key, key == 'operationState' || optional.of(object.status[key]) == oldObject.status[?key]) && oldObject.status.all(key, key in object.status) && object.status.operationState.all(key, key == 'phase' || optional.of(object.status.operationState[key]) == oldObject.status.operationState[?key]) && oldObject.status.operationState.all(key, key in object.status.operationState)
{{- end }}
