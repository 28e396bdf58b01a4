package config

import (
	"deployster/config/eval"
	"deployster/internal/base/diag"
)

// IncompleteRemote returns the warning about outputs of another state whose last run did not end well.
func IncompleteRemote(name string, r RemoteState) *diag.Diagnostic {
	summary, detail := eval.IncompleteRemote(name, r)
	return diag.Warningf(summary, "%s", detail)
}
