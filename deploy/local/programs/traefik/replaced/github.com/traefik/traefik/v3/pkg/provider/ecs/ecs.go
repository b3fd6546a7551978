// Package ecs stands in for the provider of Amazon ECS, whose client of EC2 alone is larger than Traefik.
package ecs

import (
	"errors"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/safe"
)

// Provider refuses to be configured.
type Provider struct{}

// Init always fails.
func (*Provider) Init() error {
	return errors.New("this Traefik is built without the ECS provider")
}

// Provide is never called, because Init fails.
func (*Provider) Provide(chan<- dynamic.Message, *safe.Pool) error {
	return nil
}
