{{/*
Adds the defaults of what is missing to a block of values, in place. What the values say within annotations, labels and resources is left
as it is, because there `null` takes a default away, and helm then shows neither. Given: given, defaults.
*/}}
{{- define "values.complete" -}}
{{- $given := .given }}
{{- range $name, $default := .defaults }}
{{- if kindIs "invalid" (index $given $name) }}
{{- $_ := set $given $name $default }}
{{- else if and (kindIs "map" $default) (not (has $name (list "annotations" "labels" "resources"))) }}
{{- include "values.complete" (dict "given" (index $given $name) "defaults" $default) }}
{{- end }}
{{- end }}
{{- end }}
