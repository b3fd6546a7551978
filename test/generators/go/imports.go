// Package generators names what generated clients import, so that go.mod and go.sum pin it.
package generators

import (
	_ "github.com/oapi-codegen/runtime"
	_ "go.yaml.in/yaml/v3"
	_ "gopkg.in/validator.v2"
)
