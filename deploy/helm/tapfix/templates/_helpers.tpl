{{- /* The namespace is a part of names and of expressions in the admission policies. */}}
{{- define "tapfix.namespace" -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" .Release.Namespace) -}}
{{- fail (printf "%q is no name of a namespace" .Release.Namespace) -}}
{{- end -}}
{{- .Release.Namespace -}}
{{- end }}

{{- /* Of cluster-scoped objects that mention the namespace each tapfix brings its own. */}}
{{- define "tapfix.suffix" -}}
{{- if ne .Release.Namespace "tapfix" }}-{{ .Release.Namespace }}{{ end -}}
{{- end }}

{{- define "tapfix.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "tapfix.configMap" -}}
{{- .Values.existingConfigMap | default "tapfix-config" -}}
{{- end }}

{{- /* Takes the role. */}}
{{- define "tapfix.selector" -}}
app.kubernetes.io/name: tapfix
app.kubernetes.io/component: {{ . }}
{{- end }}
