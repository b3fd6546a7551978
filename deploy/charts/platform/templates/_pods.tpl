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

{{/*
Where a program's pods run. A node or a zone that dies should not take every replica with it. Given: root, selector, and affinity and
topologySpreadConstraints in place of the chart's own.
*/}}
{{- define "platform.scheduling" -}}
{{- $selector := .selector -}}
affinity:
  {{- if .affinity }}
  {{- toYaml .affinity | nindent 2 }}
  {{- else }}
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- toYaml $selector | nindent 14 }}
  {{- end }}
topologySpreadConstraints:
  {{- $constraints := list }}
  {{- range .topologySpreadConstraints | default (include "platform.spread" .root | fromYamlArray) }}
  {{- $constraints = append $constraints (merge (dict) . (dict "labelSelector" (dict "matchLabels" $selector))) }}
  {{- end }}
  {{- toYaml $constraints | nindent 2 }}
{{- include "platform.placement" .root }}
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

{{/* Labels of a program's objects, which its selector finds. Given: root, selector. */}}
{{- define "platform.labelsOf" -}}
{{- merge (dict) .selector (include "platform.labels" .root | fromYaml) | toYaml }}
{{- end }}

{{/*
The Deployment of a program of the image that serves requests. Given: root, name, selector, serviceAccount, args, ports (numbers by name,
among them `probes`), values (of the program), and what platform.scheduling is given.
*/}}
{{- define "platform.deployment" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $settings := include "platform.settings" $root | fromYaml -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "platform.labelsOf" . | nindent 4 }}
spec:
  replicas: {{ $values.replicas }}
  revisionHistoryLimit: 2
  # A replica stops only after its successor is ready.
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  selector:
    matchLabels: {{- toYaml .selector | nindent 6 }}
  template:
    metadata:
      labels: {{- mustMergeOverwrite (deepCopy $values.podLabels) (include "platform.labelsOf" . | fromYaml) | toYaml | nindent 8 }}
      annotations:
        # Settings are read once, at the start, except for the log level.
        ephemeral-environments.dev/settings: {{ include "platform.settingsHash" $root }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ .serviceAccount }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- include "platform.scheduling" . | nindent 6 }}
      # The settle time, up to three times as long under requests, then pending requests (10 s), then the program's own work.
      terminationGracePeriodSeconds: {{ add (mul 3 $settings.api.settleSeconds) 25 }}
      securityContext: {{- include "platform.podSecurity" $root | nindent 8 }}
      containers:
        - name: {{ .name }}
          image: {{ include "platform.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          # The image's entrypoint is Node with its flags and the program.
          args: {{ concat .args (list "--settings" "/etc/ephemeral-environments/settings.yaml") | toJson }}
          env:
            # A container that restarts in its pod reuses compiled modules.
            - {name: NODE_COMPILE_CACHE, value: /tmp/node-compile-cache}
            {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - {name: {{ $name }}, containerPort: {{ $port }}}
            {{- end }}
          livenessProbe:
            httpGet: {path: /livez, port: probes}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          readinessProbe:
            httpGet: {path: /readyz, port: probes}
            periodSeconds: 2
            timeoutSeconds: 5
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {{- include "platform.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            - {name: settings, mountPath: /etc/ephemeral-environments, readOnly: true}
            - {name: tmp, mountPath: /tmp}
            {{- with $values.volumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        - name: settings
          configMap: {name: settings}
        - name: tmp
          emptyDir: {sizeLimit: 64Mi}
        {{- with $values.volumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end }}

{{/* One pod of a program at a time leaves its node. An unready pod does not block a drain. Given: root, name, selector. */}}
{{- define "platform.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "platform.labelsOf" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- toYaml .selector | nindent 6 }}
{{- end }}
