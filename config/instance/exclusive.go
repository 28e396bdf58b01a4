package instance

import (
	"regexp"
	"slices"

	"deployster/internal/base/diag"
)

// Exclusive is a set of objects of which only those stay that are declared or kept.
type Exclusive struct {
	Name string
	TypeSettings
	Keep   []*regexp.Regexp // over whole identities
	Config Resolved         // narrows what the type lists
	Range  diag.Range
}

// Keeps reports whether the set keeps the object of an identity.
func (e *Exclusive) Keeps(identity string) bool {
	return slices.ContainsFunc(e.Keep, func(pattern *regexp.Regexp) bool { return pattern.MatchString(identity) })
}
