{{/* What the Prometheus operator scrapes of a program. Given: root, name and selector; service: the name of a Service for it. */}}
{{- define "monitors.pod" -}}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- merge (dict) .root.Values.metrics.labels (include "platform.labelsOf" . | fromYaml) | toYaml | nindent 4 }}
spec:
  selector:
    matchLabels: {{- toYaml .selector | nindent 6 }}
  podMetricsEndpoints:
    - {port: probes, path: /metrics}
{{- end }}

{{/* The same by a Service, for a Prometheus without PodMonitors. */}}
{{- define "monitors.service" -}}
{{- $labels := merge (dict "app.kubernetes.io/component" "metrics") (include "platform.labelsOf" . | fromYaml) -}}
# Every pod, ready or not: the metrics of an unready one matter most.
apiVersion: v1
kind: Service
metadata:
  name: {{ .service }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- toYaml $labels | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{- toYaml .selector | nindent 4 }}
  ports:
    - {name: probes, port: 9090, targetPort: probes}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- merge (dict) .root.Values.metrics.labels (include "platform.labelsOf" . | fromYaml) | toYaml | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- toYaml .selector | nindent 6 }}
      app.kubernetes.io/component: metrics
  endpoints:
    - {port: probes, path: /metrics}
{{- end }}
