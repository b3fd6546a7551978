package main

import (
	"errors"
	"fmt"
	"os"

	helmcmd "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
	// As helm's own main: credentials that a kubeconfig may ask for.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

// helm runs Helm with these arguments, as its own main does (cmd/helm/helm.go), and returns its exit code.
func helm(arguments []string) int {
	kube.ManagedFieldsManager = "helm"
	command, err := helmcmd.NewRootCmd(os.Stdout, arguments, helmcmd.SetupLogging)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = command.Execute()
	var failed helmcmd.CommandError
	switch {
	case errors.As(err, &failed):
		return failed.ExitCode
	case err != nil:
		return 1
	}
	return 0
}
