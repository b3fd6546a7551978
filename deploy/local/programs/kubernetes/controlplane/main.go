// Command controlplane is every program of the local cluster that is built from the sources of Kubernetes, Argo CD and
// Helm, in one binary: they share nearly all of their code, so one link step replaces ten. The program is chosen by the
// name it is called by (a symbolic link) or, called by its own name, by the first argument.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	appcontroller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	gitaskpass "github.com/argoproj/argo-cd/v3/cmd/argocd-git-ask-pass/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// commands are constructors because making one registers its flags globally: only the chosen one may be made.
var commands = map[string]func() *cobra.Command{
	// Of its command line, the part that git asks for the login at a private repository.
	"argocd":                        gitaskpass.NewCommand,
	"argocd-application-controller": appcontroller.NewCommand,
	"argocd-repo-server":            reposerver.NewCommand,
	"kube-apiserver":                apiserver.NewAPIServerCommand,
	"kube-controller-manager":       controllermanager.NewControllerManagerCommand,
	"kube-proxy":                    proxy.NewProxyCommand,
	"kube-scheduler":                func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                       kubectl.NewDefaultKubectlCommand,
	// The kubelet installs its own signal handler; handing it a context that has one panics.
	"kubelet": func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

// tickEvery is how coarse time is for the keys of redis.
const tickEvery = 50 * time.Millisecond

func main() {
	program := filepath.Base(os.Args[0])
	if program == "controlplane" && len(os.Args) > 1 {
		program = os.Args[1]
		os.Args = os.Args[1:]
	}
	switch program {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "helm":
		os.Exit(helm(os.Args[1:]))
	case "redis":
		os.Exit(redis(os.Args[1:]))
	}
	command, known := commands[program]
	if !known {
		fmt.Fprintf(os.Stderr, "unknown program %q\n", program)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}

// redis serves Argo CD's cache from memory on the one address given, until it gets a signal to stop. Clients must know the
// password of the environment variable REDIS_PASSWORD: everybody on the machine can read arguments. With a certificate
// they can tell that it is this server that they tell the password to.
func redis(arguments []string) int {
	flags := flag.NewFlagSet("redis", flag.ContinueOnError)
	certificate := flags.String("tls-cert-file", "", "PEM file of its certificate; without one it speaks plain TCP")
	key := flags.String("tls-key-file", "", "PEM file of the certificate's key")
	password := os.Getenv("REDIS_PASSWORD")
	if flags.Parse(arguments) != nil || flags.NArg() != 1 || password == "" {
		fmt.Fprintln(os.Stderr, "usage: REDIS_PASSWORD=... redis [--tls-cert-file FILE --tls-key-file FILE] ADDRESS:PORT")
		return 2
	}
	server := miniredis.NewMiniRedis()
	server.RequireAuth(password)
	if err := listen(server, flags.Arg(0), *certificate, *key); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	tick := time.NewTicker(tickEvery)
	for last := time.Now(); ; {
		select {
		case <-stop:
			server.Close()
			return 0
		case <-tick.C:
			// Its keys grow no older by themselves.
			now := time.Now()
			server.FastForward(now.Sub(last))
			last = now
		}
	}
}

func listen(server *miniredis.Miniredis, address, certificate, key string) error {
	if certificate == "" {
		return server.StartAddr(address)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	return server.StartAddrTLS(address, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
}
