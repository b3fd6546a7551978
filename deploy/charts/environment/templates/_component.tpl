{{/* The selector of a component's pods; immutable in a Deployment, so it never changes. Arguments: name, root. */}}
{{- define "component.selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/part-of: {{ .root.Values.environment.name | quote }}
{{- end }}

{{/* The labels of every object of a component. Arguments: name, root. */}}
{{- define "component.labels" -}}
{{ include "component.selector" . }}
app.kubernetes.io/component: {{ .name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
ephemeral-environments.dev/environment: {{ .root.Values.environment.name | quote }}
ephemeral-environments.dev/environment-uid: {{ .root.Values.environment.uid | quote }}
{{- end }}

{{/* The URL of a component, as users open it. Argument: the component. */}}
{{- define "component.url" -}}
{{ .url | default (printf "https://%s" .host) }}
{{- end }}

{{/* What a probe requests: with the host of the component, because applications refuse others. Argument: the component. */}}
{{- define "component.probe" -}}
path: {{ .healthPath | quote }}
port: http
httpHeaders: [{name: Host, value: {{ .host | quote }}}]
{{- end }}

{{/*
The plain variables of a component as a list for a container's env. Arguments: name, component, root.

Built as a map, because a server-side apply refuses a list with duplicate names.
"$$" is how a container spec writes a dollar sign: the value reaches the process as it was given, never expanded.
*/}}
{{- define "component.env" -}}
{{- $variables := dict "ENVIRONMENT_NAME" .root.Values.environment.name "PORT" (.component.port | int | toString) }}
{{- if eq .name "frontend" }}
{{- $_ := set $variables "BACKEND_URL" (include "component.url" .root.Values.backend) }}
{{- else if .root.Values.frontend }}
{{- $_ := set $variables "FRONTEND_URL" (include "component.url" .root.Values.frontend) }}
{{- end }}
{{- range .component.env }}
{{- $_ := set $variables .name .value }}
{{- end }}
{{- range $name, $value := $variables }}
- name: {{ $name | toJson }}
  value: {{ $value | replace "$" "$$" | toJson }}
{{- end }}
{{- end }}

{{/* The security of the database's pods. */}}
{{- define "database.security" -}}
runAsNonRoot: true
# The user `postgres` of the official image; PostgreSQL needs a user that the image knows.
runAsUser: 999
runAsGroup: 999
fsGroup: 999
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}
