{{/* What is said of a file of the chart that a copy has lost, or has something else in place of. Given: its path. */}}
{{- define "platform.lostFile" -}}
{{ printf "the chart has no %s: take it whole, from a release (helm pull) or a checkout (git clone), and try again" . }}
{{- end }}
