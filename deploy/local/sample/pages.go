package main

import (
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"
)

// feature is something that a branch adds to the application: each has one file with an init function.
type feature struct{ Name, Text string }

var features []feature

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Environment}}</title>
<style>body{font:16px/1.5 system-ui;margin:3rem auto;max-width:40rem;padding:0 1rem}code{background:#eee;padding:.1em .3em}</style>
</head>
<body>
<h1>Environment <code>{{.Environment}}</code></h1>
<p>This is the sample application's frontend. Its backend: {{if .Backend}}<a href="{{.Backend}}">{{.Backend}}</a>{{else}}not told{{end}}.</p>
{{with .Commit}}<p>Commit <code>{{.}}</code></p>
{{end}}{{range .Features}}<h2>{{.Name}}</h2>
<p>{{.Text}}</p>
{{end}}<p>Variables it received, by name: {{range .Variables}}<code>{{.}}</code> {{else}}none{{end}}</p>
</body>
</html>
`))

// handler answers /healthz, and everything else with what the component is.
func handler(component string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", health(time.Now()))
	if component == "frontend" {
		mux.HandleFunc("/", frontend)
	} else {
		mux.HandleFunc("/", backend)
		mux.HandleFunc("/database", visits)
	}
	return logged(mux)
}

func health(started time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		failure := os.Getenv("SAMPLE_FAIL")
		if failure == "unhealthy" || failure == "slow" && time.Since(started) < 20*time.Second {
			http.Error(w, "SAMPLE_FAIL is "+failure, http.StatusInternalServerError)
			return
		}
		w.Write([]byte("ok\n"))
	}
}

func backend(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	json.NewEncoder(w).Encode(map[string]any{
		"component": "backend", "environment": os.Getenv("ENVIRONMENT_NAME"), "features": featureNames(),
		"commit": os.Getenv("SAMPLE_COMMIT"), "variables": variableNames(),
	})
}

func frontend(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	err := page.Execute(w, map[string]any{
		"Environment": os.Getenv("ENVIRONMENT_NAME"), "Backend": os.Getenv("BACKEND_URL"), "Features": features,
		"Commit": os.Getenv("SAMPLE_COMMIT"), "Variables": variableNames(),
	})
	if err != nil {
		slog.Error("page was not delivered", "error", err.Error())
	}
}

func featureNames() []string {
	names := []string{}
	for _, each := range features {
		names = append(names, each.Name)
	}
	return names
}

// variableNames leaves out what every container gets, so that what remains was chosen for it.
func variableNames() []string {
	names := []string{}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !given(name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

func given(name string) bool {
	return name == "PATH" || name == "HOME" || name == "HOSTNAME" || name == "SAMPLE_COMMIT" || strings.HasPrefix(name, "KUBERNETES_") ||
		strings.Contains(name, "_PORT_") || strings.HasSuffix(name, "_SERVICE_HOST") || strings.HasSuffix(name, "_SERVICE_PORT")
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// logged writes one line per request; health checks come every second and would drown the rest.
func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		recording := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(recording, r)
		if r.URL.Path != "/healthz" {
			slog.Info("request", "method", r.Method, "path", r.URL.Path, "status", recording.status,
				"milliseconds", time.Since(began).Milliseconds())
		}
	})
}
