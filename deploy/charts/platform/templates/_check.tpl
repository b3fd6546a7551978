{{/* What runs a check: the operator's image and identity, and nothing of its ports. Given: root, and args, of which the first is the command. */}}
{{- define "check.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "platform.serviceAccount" $root }}
automountServiceAccountToken: true
enableServiceLinks: false
restartPolicy: Never
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- include "platform.placement" $root }}
securityContext: {{- include "platform.podSecurity" $root | nindent 2 }}
containers:
  - name: check
    image: {{ include "platform.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ concat .args (list "--settings" "/etc/ephemeral-environments/settings.yaml") | toJson }}
    resources: {{- toYaml $root.Values.check.resources | nindent 6 }}
    securityContext: {{- include "platform.containerSecurity" $root | nindent 6 }}
    volumeMounts:
      - {name: settings, mountPath: /etc/ephemeral-environments, readOnly: true}
volumes:
  - name: settings
    configMap: {name: settings}
{{- end }}

{{/* Its pods: none of the operator's, so that no Service and no budget counts them. */}}
{{- define "check.selector" -}}
app.kubernetes.io/name: ephemeral-environments-check
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "check.labels" -}}
{{- merge (include "check.selector" . | fromYaml) (include "platform.labels" . | fromYaml) | toYaml }}
{{- end }}
