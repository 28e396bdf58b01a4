package subject

import (
	"strings"

	"deployster/config"
	"deployster/plan/reason"
)

// WhyEnds returns why an entry that is not declared ends.
func (s Selection) WhyEnds() *reason.Reason {
	if s.Destroy {
		return reason.New(reason.DestroyCommand)
	}
	return reason.New(reason.Undeclared)
}

// WhyForgotten returns why an entry is only forgotten: because of on_remove, or because it is
// a publish. It follows WhyEnds.
func (s Selection) WhyForgotten(addr string) *reason.Reason {
	if strings.HasPrefix(addr, config.PublishPrefix) {
		return reason.New(reason.PublishedStays)
	}
	return reason.New(reason.KeptByOnRemove)
}
