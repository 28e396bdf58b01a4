//go:build tools

// Package first pins providers of before the SDK was a module of its own, that the bridge
// is tested with.
package first

import (
	_ "github.com/terraform-providers/terraform-provider-http"
	_ "github.com/terraform-providers/terraform-provider-null"
	_ "github.com/terraform-providers/terraform-provider-random"
	_ "github.com/terraform-providers/terraform-provider-tls"
)
