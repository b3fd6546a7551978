// Package stdlib stands in for the standard library as plugins of Traefik see it: there are none.
package stdlib

import "reflect"

// Symbols holds no package.
var Symbols = map[string]map[string]reflect.Value{}

// MapTypes holds no type.
var MapTypes = map[reflect.Value][]reflect.Type{}
