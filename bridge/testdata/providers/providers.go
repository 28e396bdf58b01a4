//go:build tools

// Package providers pins the providers that the bridge is tested with.
package providers

import _ "github.com/hashicorp/terraform-provider-time"
