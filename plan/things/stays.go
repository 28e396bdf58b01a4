package things

import (
	"encoding/json"
	"fmt"

	"deployster/config"
	"deployster/plan/match"
	"deployster/plan/plugs"
	"deployster/protocol"
	"deployster/state"
)

// Unremovable says why a thing stays if its type cannot remove it.
const Unremovable = "its type cannot remove things"

// Stays says why the recorded thing of a resource that means another thing now is left as
// it is; "" = it is destroyed. reference and ty are those of the resource. If the things
// differ only in where plugs lead, the recorded one is destroyed only with otherPath. away
// says why its host cannot be reached; "" = it can.
func Stays(p match.Pair, entry state.Entry, reference string, ty protocol.Type, otherPath bool, away string) string {
	switch {
	case away != "":
		return away
	case p.Owner != "":
		return "it " + IsOf(p.Owner, p.Unsure)
	case match.OnlyPaths(p.Differences) && !otherPath:
		return "it differs in where a plug leads, and only -approve=other-path would remove it for that"
	case entry.OnRemove == "forget":
		return "its on_remove is \"forget\""
	case !ty.Absent && plugs.Untagged(entry.Type) == plugs.Untagged(reference):
		return Unremovable
	}
	return ""
}

// IsOf says which resource owns a recorded thing, or may own it if that is unsure.
func IsOf(owner string, unsure bool) string {
	if unsure {
		return "may be that of " + config.Reference(owner) + ", which has another env, network or read-only plug"
	}
	return "is that of " + config.Reference(owner)
}

// Left returns the note about a recorded thing that stays: how the resource's thing
// differs from it, and why it stays.
func Left(differs, stays string) string {
	return fmt.Sprintf("It is another thing than what was recorded (%s). The recorded thing stays as it is and is forgotten: %s.",
		differs, stays)
}

// Lost returns the note about a recorded resource that does not exist, if the recorded thing
// may be another one, which then stays; "" = it is the same thing.
func Lost(entry state.Entry, ty string, config json.RawMessage, identity []string) string {
	switch {
	case plugs.Untagged(entry.Type) != plugs.Untagged(ty):
		return fmt.Sprintf("It was recorded as created by %s. If that still exists, it stays as it is and is "+
			"forgotten: to have it destroyed, apply once without this block first.", entry.Type)
	case string(entry.Config) != string(config) && len(identity) == 0:
		return "It was recorded with another config, and with this one its image finds nothing. If what was created " +
			"with the other one still exists, it stays as it is and is forgotten."
	}
	return ""
}
