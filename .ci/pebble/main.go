//go:build tools

// Package pebble names the ACME server that the tests need, and what answers its queries of names.
package pebble

import (
	_ "github.com/letsencrypt/pebble/v2/cmd/pebble"
	_ "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv"
)
