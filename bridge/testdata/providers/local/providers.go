//go:build tools

// Package local pins the provider hashicorp/local 1.4.0, of the SDK's first version, that
// the bridge is tested with.
package local

import _ "github.com/terraform-providers/terraform-provider-local"
