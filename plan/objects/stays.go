package objects

import (
	"encoding/json"

	"deployster/plan/match"
	"deployster/plan/plugs"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// WhyKept returns why the recorded object of a resource that means another object now is
// kept; nil = it is destroyed. reference and ty are those of the resource. If the objects
// differ only in where plugs lead, the recorded one is destroyed only with otherPath. away
// is why its host cannot be reached; nil = it can.
func WhyKept(p match.Pair, entry state.Entry, reference string, ty protocol.Type, otherPath bool, away *reason.Reason) *reason.Reason {
	switch {
	case away != nil:
		return away
	case p.Owner != "":
		return reason.New(reason.KeptAsOwned).With(OwnedBy(p.Owner, p.Unsure))
	case match.OnlyPathsDiffer(p.Differences) && !otherPath:
		return reason.New(reason.OtherPath)
	case entry.OnRemove == "forget":
		return reason.New(reason.OnRemove)
	case !ty.Absent && plugs.Untagged(entry.Type) == plugs.Untagged(reference):
		return reason.New(reason.Unremovable)
	}
	return nil
}

// OwnedBy returns which resource owns a recorded object, or may own it if that is unsure.
func OwnedBy(owner string, unsure bool) *reason.Reason {
	if unsure {
		return reason.New(reason.MayBeOwned, owner)
	}
	return reason.New(reason.Owned, owner)
}

// KeptNote returns the note about a recorded object that stays: how the resource's object
// differs from it, and why it stays.
func KeptNote(differs, stays *reason.Reason) *reason.Reason {
	return reason.New(reason.Replaced).With(differs, stays)
}

// RecreatedNote returns the note about a recorded resource that does not exist, if the recorded object
// may be another one, which then stays; nil = it is the same object.
func RecreatedNote(entry state.Entry, ty string, config json.RawMessage, identity []string) *reason.Reason {
	switch {
	case plugs.Untagged(entry.Type) != plugs.Untagged(ty):
		return reason.New(reason.CreatedByType, entry.Type)
	case string(entry.Config) != string(config) && len(identity) == 0:
		return reason.New(reason.CreatedByConfig)
	}
	return nil
}
