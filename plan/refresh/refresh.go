package refresh

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/protocol"
	"deployster/state"
)

// Owed lists the subscribed resources that were acted on since the subscriber was last
// VALID, or since its creation began. acts reports whether this run starts an action of
// a resource, prior is the state before this run. A new subscription counts nothing
// that happened before it.
func Owed(subscribed []string, e state.Entry, prior state.Snapshot, acts func(addr string) bool) []string {
	return slices.DeleteFunc(slices.Clone(subscribed), func(addr string) bool {
		seen, known := e.Seen[addr]
		return !acts(addr) && (!known || prior.Resources[addr].Acted <= seen)
	})
}

// Tell puts into the input of a resource that a subscribed resource was acted on, and
// what has changed in the config, if its type asks for that. It returns a sentence that
// says which resources were acted on, or "".
func Tell(in *protocol.StateInput, ty *protocol.Type, subscribed []string, e state.Entry, prior state.Snapshot,
	acts func(addr string) bool) string {
	if !ty.Refresh || in.Intent != protocol.Present {
		return ""
	}
	if !e.Incomplete() { // it was VALID with the config of the entry
		in.Changed = Changed(e.Config, in.Config)
	}
	owed := Owed(subscribed, e, prior, acts)
	if in.Refresh = len(owed) > 0; !in.Refresh {
		return ""
	}
	return fmt.Sprintf("It is told that %s, which it subscribes, was acted on, or will be.", strings.Join(owed, ", "))
}

// Seen returns, by subscribed resource, the serial that a subscriber has seen if it is VALID now.
func Seen(subscribed []string, prior state.Snapshot, acts func(addr string) bool) map[string]uint64 {
	if len(subscribed) == 0 {
		return nil
	}
	seen := make(map[string]uint64, len(subscribed))
	for _, addr := range subscribed {
		if seen[addr] = prior.Resources[addr].Acted; acts(addr) {
			seen[addr] = prior.Serial + 1
		}
	}
	return seen
}

// News lists, by subscribed resource, the recorded subscribers whose entries do not have
// that subscription yet.
func News(m *config.Manifest, prior state.Snapshot) map[string][]string {
	news := map[string][]string{}
	for _, r := range m.Resources() {
		e, recorded := prior.Resources[r.Address]
		for _, addr := range r.Subscribes {
			if _, known := e.Seen[addr]; recorded && !known {
				news[addr] = append(news[addr], r.Address)
			}
		}
	}
	return news
}

// Changed lists the JSON pointers of the values in a config that differ from those in the
// config that was last VALID, are new, or are gone; sorted. It lists nothing where no
// config was VALID.
func Changed(before, now json.RawMessage) []string {
	was, err := jsondoc.Value(before)
	is, wrong := jsondoc.Value(now)
	if len(before) == 0 || err != nil || wrong != nil {
		return nil
	}
	left, right := leaves(was), leaves(is)
	var out []string
	for pointer, value := range right {
		if had, there := left[pointer]; !there || had != value {
			out = append(out, pointer)
		}
	}
	for pointer := range left {
		if _, there := right[pointer]; !there {
			out = append(out, pointer)
		}
	}
	slices.Sort(out)
	return out
}

// CanBeTold refuses the subscriptions of a resource whose type does not accept notifications.
func CanBeTold(r *config.Resource, ty *protocol.Type) diag.Diagnostics {
	if ty.Refresh || len(r.Subscribes) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.Errorf("Type cannot be told", "It subscribes %s, and %s does not say \"refresh\": true in init, so it would "+
		"never know. Use depends_on where only the order matters, or a type that can be told.", r.Subscribes[0], diag.Visible(r.TypeRef))}
}

// leaves returns the JSON text of each leaf of a document, by its pointer.
func leaves(tree any) map[string]string {
	out := map[string]string{}
	jsondoc.Leaves(tree, func(path []string, leaf any) {
		text, _ := json.Marshal(leaf) // cannot fail: the leaf came from JSON
		out[jsondoc.JoinPointer(path)] = string(text)
	})
	return out
}
