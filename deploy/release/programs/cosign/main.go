// Command cosign has the commands of Sigstore's own program, without the clouds' key services: no test asks one, and they are
// most of what would have to be compiled.
package main

import (
	"log"

	"github.com/sigstore/cosign/v3/cmd/cosign/cli"
)

func main() {
	log.SetFlags(0)
	if err := cli.New().Execute(); err != nil {
		log.Fatalf("error: %v", err)
	}
}
