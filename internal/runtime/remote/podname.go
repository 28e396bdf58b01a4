package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// ActionPod returns the name of the Pod of an action that has one of its own: the same for each client of
// the state, so that a later one finds it.
func ActionPod(lineage, id string) string {
	sum := sha256.Sum256([]byte(lineage + " " + id))
	return own + hex.EncodeToString(sum[:8])
}

// own is how the names of Pods of one invocation begin.
const own = "d-"

// MayHaveOpen reports whether a Pod that earlier runs have left may have an action whose end the state of a client does not know. A Pod
// that several actions share may have each that is open.
func (h Hello) MayHaveOpen(pod string) bool {
	if h.Open == nil || !strings.HasPrefix(pod, own) {
		return h.Open == nil || len(*h.Open) > 0
	}
	return slices.ContainsFunc(*h.Open, func(id string) bool { return ActionPod(h.Lineage, id) == pod })
}
