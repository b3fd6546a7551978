// Command sample is the application that the local cluster's first environments run: a backend that answers in JSON
// and a frontend that serves one page. It shows which variables it received by their names, never by their values.
//
//	sample backend|frontend    serves until it gets a signal to stop
//	sample get URL             prints status and body of one request, to look around from inside a pod
//
// PORT (default 8080) is where it listens; SAMPLE_COMMIT is the commit that its image was made of, which it tells. With
// DATABASE_URL, /database counts its visitors in the database. For tests of failures SAMPLE_FAIL makes it misbehave: `crash` ends it at once, `unhealthy` makes /healthz answer 500, `slow` makes it healthy only after 20 seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stdout, nil)))
	if err := run(os.Args[1:]); err != nil {
		slog.Error("ended", "error", err.Error())
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "get":
		return get(arguments[1])
	case len(arguments) == 1 && (arguments[0] == "backend" || arguments[0] == "frontend"):
		return serve(arguments[0])
	}
	return errors.New("usage: sample backend|frontend, or sample get URL")
}

func serve(component string) error {
	if os.Getenv("SAMPLE_FAIL") == "crash" {
		return errors.New("SAMPLE_FAIL is crash")
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	server := &http.Server{Addr: ":" + port(), Handler: handler(component), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-stopped.Done()
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := server.Shutdown(grace); err != nil {
			slog.Error("requests were cut off", "error", err.Error())
		}
	}()
	slog.Info("listening", "component", component, "port", port(), "variables", variableNames())
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	slog.Info("stopped", "component", component)
	return nil
}

func get(url string) error {
	client := http.Client{Timeout: 5 * time.Second}
	reply, err := client.Get(url)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	fmt.Println(reply.StatusCode)
	_, err = io.Copy(os.Stdout, io.LimitReader(reply.Body, 64<<10))
	return err
}

func port() string {
	if port := os.Getenv("PORT"); port != "" {
		return port
	}
	return "8080"
}
