package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/decl"
	"deployster/internal/base/diag"
)

// ParseAddress reads the address of a resource, an instance or a module, as
// plans print it or as manifests refer to it: web, web["a"], resource.web[0],
// module.net, module.net.web. It gives the address as plans print it.
func ParseAddress(text string) (string, error) {
	const forms = "An address is NAME, NAME[\"KEY\"], NAME[0], module.NAME or module.NAME.NAME, as plans print it."
	full := strings.TrimSpace(text)
	if !strings.HasPrefix(full, "resource.") && !strings.HasPrefix(full, "module.") {
		full = "resource." + full
	}
	t, diags := hclsyntax.ParseTraversalAbs([]byte(full), "", hcl.InitialPos)
	if diags.HasErrors() {
		return "", diag.Errorf("Not an address", "%s is none. %s", diag.Visible(text), forms)
	}
	address, _, problem := decl.AddressOf(t)
	if problem != "" {
		return "", diag.Errorf("Not an address", "%s is none. %s", diag.Visible(text), forms)
	}
	return address, nil
}
