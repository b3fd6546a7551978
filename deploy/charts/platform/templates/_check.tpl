{{/* What runs a check: the operator's image and identity, and nothing of its ports. Given: root, and args, of which the first is the command. */}}
{{- define "check.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "platform.serviceAccount" $root }}
automountServiceAccountToken: true
enableServiceLinks: false
restartPolicy: Never
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- include "platform.placement" $root }}
securityContext: {{- include "platform.podSecurity" $root | nindent 2 }}
containers:
  - name: check
    image: {{ include "platform.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ concat .args (list "--settings" "/etc/ephemeral-environments/settings.yaml") | toJson }}
    resources: {{- toYaml $root.Values.check.resources | nindent 6 }}
    securityContext: {{- include "platform.containerSecurity" $root | nindent 6 }}
    volumeMounts:
      - {name: settings, mountPath: /etc/ephemeral-environments, readOnly: true}
volumes:
  - name: settings
    configMap: {name: settings}
{{- end }}

{{/*
The pods of a check as a Job has them, with what they check. Given: as check.pod.
*/}}
{{- define "check.template" -}}
metadata:
  labels: {{- include "check.labels" .root | nindent 4 }}
  annotations:
    ephemeral-environments.dev/settings: {{ include "platform.settingsHash" .root }}
spec: {{- include "check.pod" . | nindent 2 }}
{{- end }}

{{/*
The end of a check's name. A Job's pods can't be changed, and a check that has run does not run again: what has become another check,
by its image or its settings, is another object. `kubectl apply` would be refused otherwise. Given: as check.pod.
*/}}
{{- define "check.hash" -}}
{{ include "check.template" . | sha256sum | trunc 8 }}
{{- end }}

{{/* Its pods: none of the operator's, so that no Service and no budget counts them. */}}
{{- define "check.selector" -}}
app.kubernetes.io/name: ephemeral-environments-check
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "check.labels" -}}
{{- merge (include "check.selector" . | fromYaml) (include "platform.labels" . | fromYaml) | toYaml }}
{{- end }}
