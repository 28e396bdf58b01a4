package subject

import (
	"cmp"
	"fmt"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/state/moves"
)

// Selection limits a plan, or what it asks and does. The zero value is the plan
// of everything, asked anew.
type Selection struct {
	// Targets are the addresses of resources, instances and modules that the
	// plan is about, with all that has to be done before them. None: everything.
	Targets []string `json:"target,omitempty"`
	// Excludes are left out, with all that would have to wait for them.
	Excludes []string `json:"exclude,omitempty"`
	// Only are the blocks of the files that the plan was made of, where these are
	// not all there are. What lies at none of these addresses is left alone.
	Only []string `json:"only,omitempty"`
	// Destroy says that nothing is declared: the plan removes all that is recorded.
	Destroy bool `json:"destroy,omitempty"`
	// Replace are resources that are destroyed and made again.
	Replace []string `json:"replace,omitempty"`
	// NoRefresh uses what was last recorded as VALID, and asks only what the
	// manifest has changed since (-refresh=false).
	NoRefresh bool `json:"no_refresh,omitempty"`
	// RefreshOnly records what is real, and does nothing to it.
	RefreshOnly bool `json:"refresh_only,omitempty"`
	// OtherPath also destroys what differs from what is declared in nothing but where a
	// plug leads (-approve=other-path).
	OtherPath bool `json:"other_path,omitempty"`
	// ExcludedHosts are the names of hosts: what is on one is excluded, also what becomes
	// known only while the plan is made.
	ExcludedHosts []string `json:"-"`
	// Apart says that each resource means the entry at its address: what is left out is
	// not matched with what is planned.
	Apart bool `json:"-"`
}

// Names of the flags, for messages.
const (
	flagTarget  = "-target"
	flagExclude = "-exclude"
	flagReplace = "-replace"
)

// IsZero reports whether it selects everything and asks for nothing special.
func (s Selection) IsZero() bool {
	return len(s.Targets)+len(s.Excludes)+len(s.Only)+len(s.Replace) == 0 && !s.NoRefresh && !s.RefreshOnly
}

// Partial reports whether resources may be left out.
func (s Selection) Partial() bool { return len(s.Targets)+len(s.Excludes)+len(s.Only) > 0 }

// addresses counts those that it names.
func (s Selection) addresses() int { return len(s.Targets) + len(s.Excludes) + len(s.Replace) }

// normal gives the selection with its addresses as plans print them, sorted and
// each once. What contradicts itself, or is no address, is an error.
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
		diags = append(diags, diag.Errorf("Wrong command line", "-destroy removes what is recorded: -replace, -refresh=false and -refresh-only "+
			"do not go with it."))
	case s.RefreshOnly && len(s.Replace) > 0:
		diags = append(diags, diag.Errorf("Wrong command line", "-refresh-only changes no resource, and -replace destroys one and creates it "+
			"again. Choose one of them."))
	case s.RefreshOnly && s.NoRefresh:
		diags = append(diags, diag.Errorf("Wrong command line", "-refresh-only records what is real, and -refresh=false does not look at it. "+
			"Choose one of them."))
	}
	slices.SortFunc(diags, func(a, b *diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Summary, b.Summary), cmp.Compare(a.Detail, b.Detail))
	})
	return s, diags
}

// covered reports whether an address is one of a list, or lies below one.
func covered(list []string, addr string) bool {
	return slices.ContainsFunc(list, func(outer string) bool { return moves.Covers(outer, addr) })
}
