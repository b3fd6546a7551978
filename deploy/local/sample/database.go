package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"time"

	_ "github.com/lib/pq"
)

// visits counts the visits of this very page in the database that DATABASE_URL names: what it answers was read back.
func visits(w http.ResponseWriter, r *http.Request) {
	url := os.Getenv("DATABASE_URL")
	if url == "" {
		http.Error(w, "there is no DATABASE_URL", http.StatusNotFound)
		return
	}
	deadline, cancel := context.WithTimeout(r.Context(), 4*time.Second)
	defer cancel()
	count, err := visit(deadline, url)
	if err != nil {
		slog.Error("the database was not reached", "error", err.Error())
		http.Error(w, "the database was not reached: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"visits": count})
}

func visit(ctx context.Context, url string) (count int, err error) {
	// The database is in the pod's own namespace, and has no certificate.
	os.Setenv("PGSSLMODE", "disable")
	database, err := sql.Open("postgres", url)
	if err != nil {
		return 0, err
	}
	defer database.Close()
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS visits (at timestamptz NOT NULL DEFAULT now())",
		"INSERT INTO visits DEFAULT VALUES",
	} {
		if _, err := database.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	err = database.QueryRowContext(ctx, "SELECT count(*) FROM visits").Scan(&count)
	return count, err
}
