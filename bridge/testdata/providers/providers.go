//go:build tools

// Package providers pins the providers that tests of the bridge use.
package providers

import _ "github.com/hashicorp/terraform-provider-time"
