package subject

import (
	"errors"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// Locate adds to an error of a type the place of the config value that the type names, if any.
func Locate(m *config.Manifest, addr string, list diag.Diagnostics, err error) diag.Diagnostics {
	var wrong *protocol.TypeError
	if !errors.As(err, &wrong) || wrong.Path == "" {
		return list
	}
	for _, d := range list {
		if d.Range == nil {
			m.Diagnose(d, m.Locate(addr, wrong.Path, false))
		}
	}
	return list
}

// Violations returns errors for the violations of an image's schema by a config.
func Violations(m *config.Manifest, addr string, list []typeschema.Violation) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, v := range list {
		d := &diag.Diagnostic{Severity: diag.Error, Summary: "Invalid config", Address: addr, Detail: v.Sentence()}
		diags = append(diags, m.Diagnose(d, m.Locate(addr, v.Pointer, v.Key)))
	}
	return diags
}

// Findings returns what a type has found in a config as diagnostics, at its places.
func Findings(m *config.Manifest, addr string, list []protocol.Finding) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, f := range list {
		d := &diag.Diagnostic{Severity: diag.Error, Summary: "Invalid config", Address: addr, Detail: diag.Visible(f.Message)}
		if f.Severity == protocol.FindingWarning {
			d.Severity, d.Summary = diag.Warning, "Doubtful config"
		}
		if f.Path != "" {
			d.Detail = diag.Visible(f.Path + ": " + f.Message)
		}
		diags = append(diags, m.Diagnose(d, m.Locate(addr, f.Path, false)))
	}
	return diags
}
