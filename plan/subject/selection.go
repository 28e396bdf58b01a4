package subject

import (
	"cmp"
	"fmt"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/reason"
	"deployster/state/moves"
)

// Selection limits what a plan covers, queries or does. The zero value is a plan of
// everything, with fresh answers.
type Selection struct {
	// Targets are the addresses of resources, instances and modules that the plan
	// covers, with all that must be done before them. None = everything.
	Targets []string `json:"target,omitempty"`
	// Excludes are addresses that are left out, with all that depends on them.
	Excludes []string `json:"exclude,omitempty"`
	// Only are the addresses of the blocks in the selected files, where not all files
	// are selected. The plan leaves out all other addresses.
	Only []string `json:"only,omitempty"`
	// Destroy reports that nothing is declared: the plan removes all that is recorded.
	Destroy bool `json:"destroy,omitempty"`
	// Replace are addresses of resources that are destroyed and created again.
	Replace []string `json:"replace,omitempty"`
	// NoRefresh uses the recorded states, and queries only the resources that the manifest
	// has changed since (-refresh=false).
	NoRefresh bool `json:"no_refresh,omitempty"`
	// RefreshOnly records what exists, and changes nothing (-refresh-only).
	RefreshOnly bool `json:"refresh_only,omitempty"`
	// OtherPath also destroys objects that differ from the declared ones only in where
	// a plug leads (-approve=other-path).
	OtherPath bool `json:"other_path,omitempty"`
	// Purge also destroys what exclusive sets list and what is neither declared nor kept
	// (-approve=purge).
	Purge bool `json:"purge,omitempty"`
	// Deferred is "apply" if the apply of this plan, once it is saved, continues with what the plan defers to a later round
	// (-deferred=apply of plan).
	Deferred string `json:"deferred,omitempty"`
	// Follow are the names of the artifacts whose newest version is used, if it came after the
	// recorded one: all others keep the recorded version (-follow of a watch).
	Follow []string `json:"-"`
	// ExcludedHosts are names of hosts whose resources are excluded, also those that become
	// known only while the plan is made.
	ExcludedHosts []string `json:"-"`
	// Unreached are the addresses that are left out because a host cannot be reached, with
	// the reason, and UnreachedHosts the names of such hosts: what turns out to be on them is
	// left out too. Nobody has excluded these, so an apply is incomplete without them.
	Unreached      map[string]*reason.Reason `json:"-"`
	UnreachedHosts map[string]*reason.Reason `json:"-"`
	// Apart reports that what the plan leaves out is not matched with what it covers: so
	// an entry never moves between the two.
	Apart bool `json:"-"`
}

// Names of the flags, for messages.
const (
	flagTarget  = "-target"
	flagExclude = "-exclude"
	flagReplace = "-replace"
)

// Unlimited reports whether the selection covers everything and requests nothing special. It is not called IsZero, so that a
// plan file keeps the rest of a selection.
func (s Selection) Unlimited() bool {
	return len(s.Targets)+len(s.Excludes)+len(s.Only)+len(s.Replace) == 0 && !s.NoRefresh && !s.RefreshOnly
}

// Partial reports whether resources may be left out.
func (s Selection) Partial() bool {
	return len(s.Targets)+len(s.Excludes)+len(s.Only)+len(s.Unreached) > 0
}

// addresses returns how many addresses the flags name.
func (s Selection) addresses() int { return len(s.Targets) + len(s.Excludes) + len(s.Replace) }

// normal returns the selection with its addresses as plans print them, sorted and
// each once. Flags that contradict each other, and what is not an address, are errors.
func (s Selection) normal(known []string) (Selection, diag.Diagnostics) {
	var diags diag.Diagnostics
	for flag, list := range map[string]*[]string{flagTarget: &s.Targets, flagExclude: &s.Excludes, flagReplace: &s.Replace} {
		var parsed []string
		for _, text := range *list {
			address, err := config.ParseAddress(text)
			if err != nil {
				d := diag.From("Not an address", err)[0]
				d.Summary = fmt.Sprintf("%s=%s is not an address", flag, diag.Visible(text))
				d.Detail += NearMiss(text, known)
				diags = append(diags, d)
				continue
			}
			parsed = append(parsed, address)
		}
		slices.Sort(parsed)
		*list = slices.Compact(parsed)
	}
	switch {
	case s.Destroy && (s.RefreshOnly || s.NoRefresh || len(s.Replace) > 0):
		diags = append(diags, diag.Errorf("Conflicting flags", "-destroy excludes -replace, -refresh=false and -refresh-only: it "+
			"destroys all recorded resources."))
	case s.RefreshOnly && len(s.Replace) > 0:
		diags = append(diags, diag.Errorf("Conflicting flags", "-refresh-only and -replace exclude each other. Choose one of them."))
	case s.RefreshOnly && s.NoRefresh:
		diags = append(diags, diag.Errorf("Conflicting flags", "-refresh-only reads the current state, and -refresh=false does not. "+
			"Choose one of them."))
	}
	slices.SortFunc(diags, func(a, b *diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Summary, b.Summary), cmp.Compare(a.Detail, b.Detail))
	})
	return s, diags
}

// covered reports whether an address is one of a list, or is below one.
func covered(list []string, addr string) bool {
	return slices.ContainsFunc(list, func(outer string) bool { return moves.Covers(outer, addr) })
}
