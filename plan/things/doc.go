// Package things describes the things that resources and entries stand for: a type,
// a config and what a container is given come in, descriptions that package match
// can compare go out.
package things
