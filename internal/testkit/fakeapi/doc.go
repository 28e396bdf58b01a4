// Package fakeapi is a service for tests that gives each of its things an id at random,
// as clouds do: what it has made is found again only by who remembers the id.
package fakeapi
