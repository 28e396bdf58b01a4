package cli

import (
	"slices"
	"strings"

	"deployster/internal/diag"
	"deployster/internal/invoke"
)

// wider says in a line what the containers of a resource get beyond what every
// container gets, apart from its plugs: whoever approves a plan has to know.
func wider(s invoke.Settings) string {
	var parts []string
	usual := invoke.DefaultCapabilities()
	for _, c := range s.Capabilities {
		if !slices.Contains(usual, c) {
			parts = append(parts, "the capability "+diag.Visible(c))
		}
	}
	if s.User != "" {
		parts = append(parts, "the user "+diag.Visible(s.User))
	}
	if s.Workdir != "" {
		parts = append(parts, "the working directory, read-only")
	}
	if len(parts) == 0 {
		return ""
	}
	return "its containers get " + strings.Join(parts, ", ")
}
