package instance

import (
	"bytes"
	"maps"
	"slices"

	"deployster/config/ignore"
)

// Equal reports whether the same is known of the same resources: every config has the same value with both.
func (s States) Equal(other States) bool { return maps.EqualFunc(s, other, equal) }

func equal(a, b ResourceState) bool {
	return (a.Known == nil) == (b.Known == nil) && bytes.Equal(a.Known, b.Known) && a.Complete == b.Complete && a.Expected == b.Expected &&
		slices.Equal(a.Unknown, b.Unknown) && slices.Equal(a.MayChange, b.MayChange) && slices.Equal(a.Sensitive, b.Sensitive) &&
		bytes.Equal(a.Schema, b.Schema) && equalConfigs(a.Last, b.Last)
}

func equalConfigs(a, b *ignore.LastConfig) bool {
	return a == b || a != nil && b != nil && bytes.Equal(a.Value, b.Value) && slices.Equal(a.Sensitive, b.Sensitive)
}
