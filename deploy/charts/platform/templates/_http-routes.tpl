{{/*
Parts of the policy on HTTPRoutes, as CEL. https://gateway-api.sigs.k8s.io/reference/spec/#httproutespec
*/}}

{{/* Holds when a reference, called `ref`, is one to a Service of its own namespace. */}}
{{- define "httpRoute.isOwnService" -}}
(ref.?group.orValue('') == '' && ref.?kind.orValue('Service') == 'Service' && ref.?namespace.orValue(request.namespace) == request.namespace)
{{- end }}

{{/* Holds when a condition does for every filter, called `filter`, of every rule and of every backend. Given: holds. */}}
{{- define "httpRoute.everyFilter" -}}
variables.rules.all(rule, rule.?filters.orValue([]).all(filter, {{ .holds }}) && rule.?backendRefs.orValue([]).all(ref, ref.?filters.orValue([]).all(filter, {{ .holds }})))
{{- end }}

{{/* Holds when an optional text has only harmless characters. Given: text. */}}
{{- define "httpRoute.isHarmless" -}}
{{ .text }}.orValue('').matches('^{{ include "policy.harmlessText" . }}$')
{{- end }}

{{/* Holds when a redirect or a rewrite, called `change`, stays at the environment's hosts. */}}
{{- define "httpRoute.staysHere" -}}
(!change.?hostname.hasValue() || change.hostname.matches(variables.ownHost)) && {{ include "httpRoute.isHarmless" (dict "text" "change.?path.?replaceFullPath") }} && {{ include "httpRoute.isHarmless" (dict "text" "change.?path.?replacePrefixMatch") }}
{{- end }}
