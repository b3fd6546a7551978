{{/*
The binding that puts a policy into force everywhere. Given: name (without our group), root.
*/}}
{{- define "policy.binding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}.ephemeral-environments.dev
  labels: {{- include "platform.labels" .root | nindent 4 }}
spec:
  policyName: {{ .name }}.ephemeral-environments.dev
  validationActions: [Deny]
{{- end }}

{{/* A list of texts in CEL. Given: the list, of texts without a quote. */}}
{{- define "policy.texts" -}}
{{- if . }}['{{ join "', '" . }}']{{ else }}[]{{ end }}
{{- end }}

{{/* A condition that holds for the platform's own requests. */}}
{{- define "policy.byPlatform" -}}
request.userInfo.username == '{{ include "platform.username" . }}'
{{- end }}

{{/* A condition that holds for requests of Kubernetes' own controllers, wherever Argo CD runs. */}}
{{- define "policy.byKubernetes" -}}
request.userInfo.username == 'system:kube-controller-manager' || request.userInfo.username.startsWith('system:serviceaccount:kube-system:') && request.userInfo.username != '{{ include "deployer.username" . }}'
{{- end }}

{{/*
The binding of a policy that is evaluated for each class of a kind, and refuses what one of them refuses. A cluster without
classes has none to choose. Given: name (without our group), root.
*/}}
{{- define "policy.bindingForClasses" -}}
{{ include "policy.binding" . }}
  paramRef: {selector: {}, parameterNotFoundAction: Allow}
{{- end }}

{{/* Holds when a class, as the parameter of a policy, is the default of its kind. Given: the annotations that say so. */}}
{{- define "policy.isDefaultClass" -}}
{{ include "policy.texts" . }}.exists(key, params.metadata.?annotations[?key] == optional.of('true'))
{{- end }}

{{/*
A kind that the platform alone writes: `name` and `resource` of the policy, `message` of its refusal. Deletion is left to RBAC;
what concerns metadata alone, too, or the garbage collector could not do its part.
*/}}
{{- define "policy.writtenByPlatform" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ .name }}.ephemeral-environments.dev
  labels: {{- include "platform.labels" .root | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [ephemeral-environments.dev]
        apiVersions: ["*"]
        resources: [{{ .resource }}, {{ .resource }}/status]
        operations: [CREATE, UPDATE]
  matchConditions:
    - name: not-the-platform
      expression: {{ printf "!(%s)" (include "policy.byPlatform" .root) | quote }}
  validations:
    - expression: "request.operation != 'CREATE' && object.spec == oldObject.spec && object.?status == oldObject.?status"
      reason: Forbidden
      message: {{ .message | quote }}
---
{{ include "policy.binding" . }}
{{- end }}

{{/*
A condition that holds for a Job (`oldObject`) that may go once it has ended, has ended, and was made by the Argo CD application of
its namespace. https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/
*/}}
{{- define "policy.isEndedJob" -}}
oldObject.spec.?ttlSecondsAfterFinished.hasValue()
&& oldObject.?status.?conditions.orValue([]).exists(one, one.type in ['Complete', 'Failed'] && one.status == 'True')
&& (oldObject.metadata.?annotations[?'argocd.argoproj.io/tracking-id'].orValue('').startsWith(request.namespace + ':')
|| oldObject.metadata.?labels[?'app.kubernetes.io/instance'] == optional.of(request.namespace))
{{- end }}

{{/* The namespaces that are ours, as a selector. */}}
{{- define "policy.ourNamespaces" -}}
matchExpressions: [{key: {{ include "platform.uidLabel" . }}, operator: Exists}]
{{- end }}

{{/*
The variables of a policy about the hosts of the environment whose namespace a request is about, as crds/names.ts has them. No name of
an environment has two hyphens in a row, so what begins with its name and two of them is a host of no other. `hosts` is for people.
*/}}
{{- define "policy.hostVariables" -}}
{{- $domain := .Values.settings.baseDomain -}}
- name: environment
  expression: "request.namespace.substring(4)"
- name: ownHost
  expression: "'^' + variables.environment + '(--[a-z](?:[a-z0-9-]{0,9}[a-z0-9])?)?[.]{{ $domain | replace "." "[.]" }}$'"
- name: hosts
  expression: "variables.environment + '.{{ $domain }} and ' + variables.environment + '--<name>.{{ $domain }}, with a name of at most 11 characters'"
{{- end }}

{{/*
A condition that holds when a request changes what a policy judges. What was there before a rule must stay removable:
deletion writes finalizers, and refusing that would keep the object, and its environment, for ever.
*/}}
{{- define "policy.changes" -}}
request.operation == 'CREATE' || object.?spec != oldObject.?spec || object.metadata.?annotations != oldObject.metadata.?annotations
{{- end }}

{{/*
The annotations that an object of an environment may carry, beside those that Argo CD and kubectl write, as a CEL list; one
that ends in /* stands for all below. Given: the list.
*/}}
{{- define "policy.allowedAnnotations" -}}
{{ include "policy.texts" (concat (list "argocd.argoproj.io/*" "kubectl.kubernetes.io/last-applied-configuration") .) }}
{{- end }}

{{/* Those annotations of an object that are not among them, as a CEL list of names. */}}
{{- define "policy.refusedAnnotations" -}}
object.metadata.?annotations.orValue({}).map(key, key).filter(key, !variables.allowed.exists(one, one.endsWith('/*') ? key.startsWith(one.substring(0, one.size() - 1)) : key == one))
{{- end }}

{{/* What a controller may paste into its own rules without one of another kind beginning there, as part of a regular expression. */}}
{{- define "policy.harmlessText" -}}
[A-Za-z0-9._~/%@:+,=!*^$()|?-]*
{{- end }}

{{/* The URL of a chart's repository or registry, as a regular expression: CHART_URL_PATTERN of crds/repository/repository.schema.ts. */}}
{{- define "policy.chartUrl" -}}
^(https?://[A-Za-z0-9._-]+(:[0-9]+)?(/([.]*([A-Za-z0-9_~:@+,=&-]|%([346-9A-Fa-f][0-9A-Fa-f]|2[0-46-9A-Da-d]|5[0-9ABD-Fabd-f]))([A-Za-z0-9._~:@+,=&-]|%([346-9A-Fa-f][0-9A-Fa-f]|2[0-46-9A-Da-d]|5[0-9ABD-Fabd-f]))*)?)*|oci://[A-Za-z0-9._-]+(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)$
{{- end }}

{{/* The repositories that charts may come from, as a CEL list; one that ends in /* stands for all below. Empty: every one. */}}
{{- define "policy.chartRepositories" -}}
['{{ .Values.environments.chartRepositories | default (list "https:/*" "http:/*" "oci:/*") | join "', '" }}']
{{- end }}

{{/*
The text of a field of a Secret, which a policy sees in base64, as a CEL expression. Whatever can't stand in the URL of a chart becomes a
space. Given: the expression of the field. CEL has no decoder.
*/}}
{{- define "policy.decoded" -}}
{{ . }}.findAll('.{4}').map(four, four.split('').map(sign, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='.indexOf(sign))).map(six, ([six[0] * 4 + six[1] / 16] + (six[2] == 64 ? [] : [six[1] % 16 * 16 + six[2] / 4]) + (six[3] == 64 ? [] : [six[2] % 4 * 64 + six[3]])).map(code, code < 37 || code > 126 ? ' ' : '%&    +,-./0123456789:  =  @ABCDEFGHIJKLMNOPQRSTUVWXYZ    _ abcdefghijklmnopqrstuvwxyz   ~'.charAt(code - 37)).join('')).join('')
{{- end }}
