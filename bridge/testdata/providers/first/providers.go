//go:build tools

// Package first pins providers from before the SDK was a module of its own. Tests of the
// bridge use them.
package first

import (
	_ "github.com/terraform-providers/terraform-provider-http"
	_ "github.com/terraform-providers/terraform-provider-null"
	_ "github.com/terraform-providers/terraform-provider-random"
	_ "github.com/terraform-providers/terraform-provider-tls"
)
