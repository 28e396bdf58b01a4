package things

import (
	"fmt"

	"deployster/config"
	"deployster/plan/match"
	"deployster/plan/plugs"
	"deployster/protocol"
	"deployster/state"
)

// Unremovable says why a thing stays whose type has no way to remove it.
const Unremovable = "its type cannot remove things"

// Stays says why the recorded thing of a resource that means another one now is left as
// it is; "" = it is destroyed. The resource has a reference and a type. Where plugs
// lead is enough to destroy it only where otherPath says so. Away says why its host
// cannot be reached; "" = it can.
func Stays(p match.Pair, entry state.Entry, reference string, ty protocol.Type, otherPath bool, away string) string {
	switch {
	case away != "":
		return away
	case p.Owner != "":
		return "it is that of " + config.Reference(p.Owner)
	case match.OnlyPaths(p.Differences) && !otherPath:
		return "it differs in where a plug leads, and only -approve=other-path would remove it for that"
	case entry.OnRemove == "forget":
		return "its on_remove is \"forget\""
	case !ty.Absent && plugs.Untagged(entry.Type) == plugs.Untagged(reference):
		return Unremovable
	}
	return ""
}

// Left tells of a recorded thing that stays: in what the resource is another one, and
// why that is left.
func Left(differs, stays string) string {
	return fmt.Sprintf("It is another thing than what was recorded (%s). The recorded thing stays as it is and is forgotten: %s.",
		differs, stays)
}
