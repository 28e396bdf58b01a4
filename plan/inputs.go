package plan

import (
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
)

// Given returns what the type of a step is given, in the form of an entry.
func (s *Step) Given() state.Entry {
	return state.Entry{Config: s.Config, Digest: s.Init.Digest, Aliases: s.Aliases, Settings: s.Settings, Mounts: s.Mounts}
}

// changedInputs returns what a type was given that it was not given when its resource was
// last VALID. in is its input of now.
func changedInputs(b *builder, addr string, s *Step, in protocol.StateInput) []inputs.Change {
	entry, _ := recorded(b, addr, s)
	now := s.Given()
	now.Given = inputs.Given(s.Init, in.Dependencies, b.hosts.Facts(s.Settings.Host))
	if entry.Given == nil { // an earlier version wrote it: what is recorded of the dependencies counts
		unrecorded := func(string) observe.View { return observe.View{} }
		deps, _ := observe.Dependencies(s.Init, entry.Aliases, observe.RecordedViews(b.Prior, unrecorded))
		entry.Given = inputs.Given(s.Init, deps, b.hosts.Facts(s.Settings.Host))
	}
	list := inputs.Compare(now, entry)
	if from, _ := b.MovedFrom(addr); from != "" && len(s.Init.Identity) == 0 && !s.Init.Memory {
		list = append(list, inputs.Change{What: inputs.Address, Names: []string{"was " + from}})
	}
	if in.Refresh && s.Change != Create {
		list = append(list, owed(b, s, entry)...)
	}
	return list
}

// owed returns what a resource is to be notified of.
func owed(b *builder, s *Step, entry state.Entry) []inputs.Change {
	return inputs.Refresh(refresh.Owed(s.Subscribes, entry, b.Prior, updates(b)), b.Prior, updates(b))
}
