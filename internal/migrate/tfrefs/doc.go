// Package tfrefs reads references of Terraform and turns its names into valid ones:
// expressions and blocks come in, keys, addresses and names go out. It keeps nothing.
package tfrefs
