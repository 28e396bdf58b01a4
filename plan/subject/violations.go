package subject

import (
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runner/typeschema"
)

// Violations words what an image's schema finds wrong with a config.
func Violations(m *config.Manifest, addr string, list []typeschema.Violation) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, v := range list {
		d := &diag.Diagnostic{Severity: diag.Error, Summary: "Invalid config", Address: addr, Detail: v.Sentence()}
		diags = append(diags, m.Diagnose(d, m.Locate(addr, v.Pointer, v.Key)))
	}
	return diags
}
