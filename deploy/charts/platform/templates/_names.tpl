{{/* The operator's pods, in a selector. It can't be changed after the installation. */}}
{{- define "platform.selector" -}}
app.kubernetes.io/name: ephemeral-environments
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object of this chart. A version may have what a label may not: the + of a build, and any length. */}}
{{- define "platform.labels" -}}
{{ include "platform.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The label that makes a namespace ours: crds/group.ts. */}}
{{- define "platform.uidLabel" -}}
ephemeral-environments.dev/environment-uid
{{- end }}

{{- define "platform.serviceAccount" -}}
{{ .Values.settings.serviceAccount | default "platform" }}
{{- end }}

{{- define "platform.secretsNamespace" -}}
{{ .Values.settings.secretsNamespace | default "ephemeral-secrets" }}
{{- end }}

{{- define "platform.deployerNamespace" -}}
{{ (.Values.settings.deployer | default dict).namespace | default "argocd" }}
{{- end }}

{{/* The platform as the API server names it in a request. */}}
{{- define "platform.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "platform.serviceAccount" . }}
{{- end }}

{{/* The platform as a binding names it. */}}
{{- define "platform.subject" -}}
kind: ServiceAccount
name: {{ include "platform.serviceAccount" . }}
namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The platform as a FlowSchema names it. */}}
{{- define "platform.flowSubject" -}}
{kind: ServiceAccount, serviceAccount: {name: {{ include "platform.serviceAccount" . }}, namespace: {{ .Release.Namespace }}}}
{{- end }}

{{/* The settings file: what is given, with what the release itself decides. */}}
{{- define "platform.settings" -}}
{{- $given := .Values.settings }}
{{- if ne ($given.namespace | default .Release.Namespace) .Release.Namespace }}
{{- fail (printf "settings.namespace is '%s', but the release goes into '%s': leave the setting out" $given.namespace .Release.Namespace) }}
{{- end }}
{{- with $given.console }}
{{- $host := (urlParse .publicUrl).hostname }}
{{- if or (eq $host $given.baseDomain) (hasSuffix (printf ".%s" $given.baseDomain) $host) }}
{{- fail (printf "settings.console.publicUrl has the host '%s', which belongs to environments: choose one that is neither settings.baseDomain nor below it" $host) }}
{{- end }}
{{- end }}
{{- if eq (include "platform.serviceAccount" .) "gate" }}
{{- fail "settings.serviceAccount is 'gate', which is the gate's own: choose another name" }}
{{- end }}
{{- $decided := dict "namespace" .Release.Namespace "serviceAccount" (include "platform.serviceAccount" .) }}
{{- if .Values.operator.enabled }}
{{- /* Callers come through an Ingress: their addresses are what it says, and it hears of a pod's end a moment later. */}}
{{- $api := dict "host" "0.0.0.0" "settleSeconds" 5 "trustedProxyHops" 1 }}
{{- $gate := dict "host" "0.0.0.0" "probes" (dict "host" "0.0.0.0") }}
{{- $decided = merge $decided (dict "api" $api "probes" (dict "host" "0.0.0.0") "gate" $gate) }}
{{- end }}
{{- mergeOverwrite $decided (deepCopy $given) | toYaml }}
{{- end }}

{{/* Changes with the settings that are read once, at the start. */}}
{{- define "platform.settingsHash" -}}
{{ omit (include "platform.settings" . | fromYaml) "logLevel" | toYaml | sha256sum }}
{{- end }}

{{/* The operator's image: a digest says exactly which, so it wins over the tag. */}}
{{- define "platform.image" -}}
{{- $image := .Values.image }}
{{- $repository := required "image.repository is required unless operator.enabled is false" $image.repository }}
{{- if $image.digest }}{{ $repository }}@{{ $image.digest }}{{ else }}{{ $repository }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
