// Package dns stands in for the list of a hundred and seventy DNS providers, whose clients are a third of what there is
// to compile: certificates of this ingress are given to it.
package dns

import (
	"fmt"

	"github.com/go-acme/lego/v4/challenge"
)

// NewDNSChallengeProviderByName knows no provider.
func NewDNSChallengeProviderByName(name string) (challenge.Provider, error) {
	return nil, fmt.Errorf("unrecognized DNS provider: %s", name)
}
