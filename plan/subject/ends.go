package subject

import (
	"strings"

	"deployster/config"
)

// WhyEnds says why what is recorded and not declared ends.
func (s Selection) WhyEnds() string {
	if s.Destroy {
		return "you ran destroy"
	}
	return "it is no longer in the configuration"
}

// WhyForgotten says why what is recorded is forgotten only, after why it ends: on_remove
// says so, or it is a publish.
func (s Selection) WhyForgotten(addr string) string {
	if strings.HasPrefix(addr, config.PublishPrefix) {
		return ": what was published stays"
	}
	return ", and on_remove is \"forget\": it is left as it is"
}
