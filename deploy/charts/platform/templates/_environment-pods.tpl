{{/*
Parts of the policies on what an environment runs, as CEL; `dyn` where a field is not one of each kind. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
*/}}

{{/* The kinds that hold a pod's spec, and pods themselves, as resource rules. */}}
{{- define "pods.resourceRules" -}}
- apiGroups: [""]
  apiVersions: ["*"]
  resources: [pods, pods/ephemeralcontainers, replicationcontrollers]
  operations: [CREATE, UPDATE]
- apiGroups: [apps]
  apiVersions: ["*"]
  resources: [deployments, replicasets, statefulsets, daemonsets]
  operations: [CREATE, UPDATE]
- apiGroups: [batch]
  apiVersions: ["*"]
  resources: [jobs, cronjobs]
  operations: [CREATE, UPDATE]
{{- end }}

{{/* What has a pod's metadata and spec in an object of these kinds: the pod itself, or the template. Given: the object. */}}
{{- define "pods.template" -}}
(request.resource.resource == 'pods' ? optional.of(dyn({{ . }})) : request.resource.resource == 'cronjobs' ? dyn({{ . }}).?spec.?jobTemplate.?spec.?template : dyn({{ . }}).?spec.?template)
{{- end }}

{{/* Where its fields are, for the words of a refusal. */}}
{{- define "pods.path" -}}
request.resource.resource == 'pods' ? 'spec.' : request.resource.resource == 'cronjobs' ? 'spec.jobTemplate.spec.template.spec.' : 'spec.template.spec.'
{{- end }}

{{/*
Holds when a request changes the spec of pods. Older workloads must stay scalable and removable, and a pod is written to by
the scheduler, the kubelet and its controller.
*/}}
{{- define "pods.changes" -}}
request.operation == 'CREATE' || {{ include "pods.template" "object" }}.?spec != {{ include "pods.template" "oldObject" }}.?spec
{{- end }}

{{/* The Secret with the credentials of registries: operator/controllers/environment/desired/pull-secret.ts. */}}
{{- define "pods.pullSecret" -}}
'image-pull'
{{- end }}

{{/* The terms of the affinities to other pods, required and preferred, as a CEL list of lists. */}}
{{- define "pods.affinityTerms" -}}
[variables.pod.?affinity.?podAffinity.orValue({}), variables.pod.?affinity.?podAntiAffinity.orValue({})].map(one, one.?requiredDuringSchedulingIgnoredDuringExecution.orValue([]) + one.?preferredDuringSchedulingIgnoredDuringExecution.orValue([]).map(wish, wish.podAffinityTerm))
{{- end }}

{{/* The tolerations that the values allow, as a CEL list. */}}
{{- define "pods.tolerations" -}}
{{- $items := list }}
{{- range .Values.environments.pods.tolerations }}
{{- $items = append $items (printf "{'key': '%s', 'operator': '%s', 'value': '%s', 'effect': '%s'}" .key (.operator | default "Equal") (.value | default "") (.effect | default "")) }}
{{- end -}}
[{{ $items | join ", " }}]
{{- end }}

{{/* The specs of the claims that an object makes or is, as a CEL list. Given: the object. */}}
{{- define "claims.specs" -}}
(request.resource.resource == 'persistentvolumeclaims' ? [dyn({{ . }}).spec] : dyn({{ . }}).?spec.?volumeClaimTemplates.orValue([]).map(one, one.spec) + {{ include "pods.template" . }}.?spec.?volumes.orValue([]).filter(one, has(one.ephemeral)).map(one, one.ephemeral.volumeClaimTemplate.spec))
{{- end }}

{{/* Claims, and what makes them, as resource rules. */}}
{{- define "claims.resourceRules" -}}
- apiGroups: [""]
  apiVersions: ["*"]
  resources: [persistentvolumeclaims]
  operations: [CREATE, UPDATE]
{{ include "pods.resourceRules" . }}
{{- end }}

{{/*
Conditions under which claims are judged: something of them changes, and not because Kubernetes binds one to its volume.
Given: root, and part, what is made of a claim's spec called `one`.
*/}}
{{- define "claims.matchConditions" -}}
- name: changes-what-is-judged
  expression: {{ printf "request.operation == 'CREATE' || %s.map(one, %s) != %s.map(one, %s)" (include "claims.specs" "object") .part (include "claims.specs" "oldObject") .part | quote }}
- name: not-bound-by-kubernetes
  expression: {{ printf "request.operation == 'CREATE' || !(%s)" (include "policy.byKubernetes" .root) | quote }}
{{- end }}

{{/* The finalizers of an object and of what is made from it, as a CEL list of lists. Given: the object. */}}
{{- define "finalizers.of" -}}
[dyn({{ . }}).metadata.?finalizers.orValue([]), {{ include "pods.template" . }}.?metadata.?finalizers.orValue([])] + dyn({{ . }}).?spec.?volumeClaimTemplates.orValue([]).map(one, one.?metadata.?finalizers.orValue([]))
{{- end }}

{{/*
What a pod's containers leave open of Pod Security `restricted`, as a CEL list of patches. Given: the field that lists them.
A container that asks for more is left as it is: together with more, the API server takes no `allowPrivilegeEscalation: false`.
*/}}
{{- define "pods.securityOf" -}}
{{- $place := printf "'/spec/%s/' + string(at) + '/securityContext" . -}}
{{- $type := printf "Object.spec.%s.securityContext" . -}}
object.spec.?{{ . }}.orValue([]).transformList(at, one, (has(one.securityContext) ? [] : [JSONPatch{op: 'add', path: {{ $place }}', value: {{ $type }}{}}])
+ (one.?securityContext.?allowPrivilegeEscalation.hasValue() || one.?securityContext.?privileged.orValue(false)
|| one.?securityContext.?capabilities.?add.orValue([]).exists(name, name in ['SYS_ADMIN', 'CAP_SYS_ADMIN'])
? [] : [JSONPatch{op: 'add', path: {{ $place }}/allowPrivilegeEscalation', value: false}])
+ (one.?securityContext.?capabilities.?drop.hasValue() ? [] : one.?securityContext.?capabilities.hasValue()
? [JSONPatch{op: 'add', path: {{ $place }}/capabilities/drop', value: ['ALL']}]
: [JSONPatch{op: 'add', path: {{ $place }}/capabilities', value: {{ $type }}.capabilities{drop: ['ALL']}}])).flatten()
{{- end }}
