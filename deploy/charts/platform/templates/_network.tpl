{{/* The default of settings.isolation.ingressFrom in config/isolation.schema.ts: where the ingress controller is. */}}
{{- define "networkPolicy.ingress" -}}
- namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress}}
{{- end }}

{{/* The ingress controller of environments, as a list of peers. An empty list of the settings admits no peer. */}}
{{- define "networkPolicy.ingressFrom" -}}
{{- $from := (.Values.settings.isolation | default dict).ingressFrom -}}
{{- if kindIs "slice" $from }}{{ toYaml $from }}{{ else }}{{ include "networkPolicy.ingress" . }}{{ end }}
{{- end }}

{{/*
A program's NetworkPolicy. The kubelet's probes come from the pod's own node, which Kubernetes always permits. Given: root, name,
selector, port (its name) and callers, lists of peers that connect to it.
*/}}
{{- define "platform.networkPolicy" -}}
{{- $root := .root -}}
{{- $network := $root.Values.networkPolicy -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "platform.labelsOf" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- toYaml .selector | nindent 6 }}
  policyTypes: {{ empty $network.egress | ternary (list "Ingress") (list "Ingress" "Egress") | toJson }}
  ingress:
    {{- range compact .callers }}
    - ports: [{port: {{ $.port }}}]
      from: {{- toYaml . | nindent 8 }}
    {{- end }}
    {{- with $network.probesFrom }}
    - ports: [{port: probes}]
      from: {{- toYaml . | nindent 8 }}
    {{- end }}
  {{- with $network.egress }}
  egress: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
