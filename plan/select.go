package plan

// Selection limits a plan, or what it asks and does. The zero value is the plan
// of everything, asked anew.
type Selection struct {
	// Targets are the addresses of resources, instances and modules that the
	// plan is about, with all that has to be done before them. None: everything.
	Targets []string `json:"target,omitempty"`
	// Excludes are left out, with all that would have to wait for them.
	Excludes []string `json:"exclude,omitempty"`
	// Replace are resources that are destroyed and made again.
	Replace []string `json:"replace,omitempty"`
	// NoRefresh believes what was last recorded as VALID, and asks only what the
	// manifest has changed since (-refresh=false).
	NoRefresh bool `json:"no_refresh,omitempty"`
	// RefreshOnly records what is real, and does nothing to it.
	RefreshOnly bool `json:"refresh_only,omitempty"`
}

// IsZero says whether it selects everything and asks for nothing special.
func (s Selection) IsZero() bool {
	return len(s.Targets)+len(s.Excludes)+len(s.Replace) == 0 && !s.NoRefresh && !s.RefreshOnly
}

// Partial says whether resources may be left out.
func (s Selection) Partial() bool { return len(s.Targets)+len(s.Excludes) > 0 }
