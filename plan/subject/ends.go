package subject

import (
	"strings"

	"deployster/config"
)

// WhyEnds says why an entry that is not declared ends.
func (s Selection) WhyEnds() string {
	if s.Destroy {
		return "you ran destroy"
	}
	return "it is no longer in the configuration"
}

// WhyForgotten says why an entry is only forgotten: because of on_remove, or because it is
// a publish. The text continues that of WhyEnds.
func (s Selection) WhyForgotten(addr string) string {
	if strings.HasPrefix(addr, config.PublishPrefix) {
		return ": what was published stays"
	}
	return ", and on_remove is \"forget\": it is left as it is"
}
