package content

import "maps"

// Exports declare how outputs are published for other projects.
type Exports struct {
	Recipients []string `json:"recipients,omitempty"` // whose keys decrypt them; none = they are encrypted as the state is, or not
}

// Read is the latest version of the outputs of another state that an apply has used.
type Read struct {
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
}

// HasRead adds what a run reads of other states. A lower serial than before never replaces a higher one.
func (s *Snapshot) HasRead(list map[string]Read) {
	if len(list) == 0 {
		return
	}
	all := maps.Clone(s.Read)
	if all == nil {
		all = map[string]Read{}
	}
	for name, r := range list {
		if was := all[name]; was.Lineage != r.Lineage || was.Serial < r.Serial {
			all[name] = r
		}
	}
	s.Read = all
}
