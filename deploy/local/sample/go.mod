module ephemeral-environments.dev/sample

go 1.26.0

require github.com/lib/pq v1.10.9
