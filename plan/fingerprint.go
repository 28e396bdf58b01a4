package plan

import (
	"maps"
	"slices"

	"deployster/plan/digest"
	"deployster/protocol"
)

// hashed is a step as its plan's id covers it.
type hashed struct {
	*Step
	Change Change  `json:"change"`
	Part   Part    `json:"part"`
	Old    *hashed `json:"old,omitempty"`
}

func hashedStep(s *Step) *hashed {
	if s == nil { // a damaged file may have none
		return nil
	}
	return &hashed{Step: s, Change: s.Change(), Part: s.Part, Old: hashedStep(s.Old())}
}

// Fingerprint returns a plan's id: the hash of its content without the id itself.
func Fingerprint(p *Plan) string {
	blank := *p
	blank.ID, blank.Resources = "", nil
	id, err := digest.Of(&blank, slices.Sorted(maps.Keys(p.Resources)), func(addr string) digest.Part {
		step := Step{}
		if s := p.Resources[addr]; s != nil {
			step = *s
		}
		part := digest.Part{Init: step.Init}
		step.Init = protocol.Type{}
		part.Rest = hashedStep(&step)
		return part
	})
	if err != nil {
		return "" // a plan that cannot be encoded has no id; Write says why
	}
	return id
}
