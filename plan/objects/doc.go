// Package objects describes the objects that resources and entries stand for. It takes a
// type, a config, settings and mounts, and returns descriptions that package match can
// compare.
package objects
