//go:build cart

package main

func init() {
	features = append(features, feature{Name: "cart", Text: "Your cart is empty."})
}
