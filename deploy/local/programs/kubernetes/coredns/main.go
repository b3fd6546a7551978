// Command coredns is CoreDNS with the plugins that the local cluster's Corefile uses. It belongs to the module of
// Kubernetes, so that both are built from the same versions, and the packages that they share are compiled once.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	// The order in which they see a question, as in the plugin.cfg of CoreDNS.
	dnsserver.Directives = []string{"bind", "errors", "cache", "kubernetes"}
	coremain.Run()
}
