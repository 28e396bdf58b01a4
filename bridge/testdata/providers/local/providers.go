//go:build tools

// Package local pins the provider hashicorp/local 1.4.0, which uses the first version of
// the SDK. Tests of the bridge use it.
package local

import _ "github.com/terraform-providers/terraform-provider-local"
