package cli

import (
	"strings"

	"deployster/internal/diag"
	"deployster/internal/invoke"
)

// wider says in a line what the containers of a resource get beyond what every
// container gets, apart from its plugs: whoever approves a plan has to know.
func wider(s invoke.Settings) string {
	more := s.Widened()
	if len(more) == 0 {
		return ""
	}
	return "runs with: " + diag.Visible(strings.Join(more, ", "))
}
