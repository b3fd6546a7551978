{{/* An Ingress with TLS to a Service. Given: root, name (of both), host, labels, and ingress, of the values. */}}
{{- define "exposure.ingress" -}}
{{- $host := .host | quote -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- .labels | nindent 4 }}
  {{- with .ingress.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  tls:
    - hosts: [{{ $host }}]
      {{- with .ingress.tlsSecretName }}
      secretName: {{ . }}
      {{- end }}
  rules:
    - host: {{ $host }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ .name }}
                port: {name: http}
{{- end }}

{{/* An HTTPRoute to a Service. Given: root, name (of both), host, labels, and httpRoute, of the values below `of`. */}}
{{- define "exposure.httpRoute" -}}
{{- if not .httpRoute.parentRefs }}
{{- fail (printf "%s.httpRoute.parentRefs names no Gateway: name one, or disable the route" .of) }}
{{- end -}}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- .labels | nindent 4 }}
  {{- with .httpRoute.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  parentRefs: {{- toYaml .httpRoute.parentRefs | nindent 4 }}
  hostnames: [{{ .host | quote }}]
  rules:
    - backendRefs:
        - {name: {{ .name }}, port: 80}
{{- end }}
