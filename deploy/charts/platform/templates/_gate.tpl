{{/* The gate's pods, in a selector: none of the operator's, so that no Service and no budget counts both. */}}
{{- define "gate.selector" -}}
app.kubernetes.io/name: ephemeral-environments-gate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gate.labels" -}}
{{- include "platform.labelsOf" (dict "root" . "selector" (include "gate.selector" . | fromYaml)) }}
{{- end }}

{{/* The gate as the API server names it in a request. */}}
{{- define "gate.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:gate
{{- end }}

{{/* Empty where the gate is not there, or runs elsewhere, as the operator does then. */}}
{{- define "gate.isInPods" -}}
{{- if and .Values.gate.enabled .Values.operator.enabled }}true{{ end }}
{{- end }}
