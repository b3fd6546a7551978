module ephemeral-environments.dev/sample

go 1.26.0
