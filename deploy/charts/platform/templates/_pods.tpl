{{/* What the Pod Security Standard `restricted` asks of a pod. */}}
{{- define "platform.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* The same of a container, and more: nothing is written beside the volumes. */}}
{{- define "platform.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Where the operator's pods run. A node or a zone that dies should not take every replica with it. */}}
{{- define "platform.scheduling" -}}
{{- $operator := .Values.operator -}}
affinity:
  {{- if $operator.affinity }}
  {{- toYaml $operator.affinity | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "platform.selector" . | nindent 14 }}
  {{- end }}
topologySpreadConstraints:
  {{- $constraints := list }}
  {{- range $operator.topologySpreadConstraints | default (include "platform.spread" . | fromYamlArray) }}
  {{- $constraints = append $constraints (merge (dict) . (dict "labelSelector" (dict "matchLabels" (include "platform.selector" $ | fromYaml)))) }}
  {{- end }}
  {{- toYaml $constraints | nindent 2 }}
{{- include "platform.placement" . }}
{{- end }}

{{/* The chart's own constraints. Pods of an old revision do not count: during an upgrade they are on their way out. */}}
{{- define "platform.spread" -}}
- {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [pod-template-hash]}
- {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [pod-template-hash]}
{{- end }}

{{/* Constraints of every pod of the chart on where it may run. */}}
{{- define "platform.placement" -}}
{{- with .Values.operator.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}
