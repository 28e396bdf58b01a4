package remote

import (
	"crypto/sha256"
	"encoding/hex"
)

// ActionPod returns the name of the Pod of an action that has one of its own: the same for each client of
// the state, so that a later one finds it.
func ActionPod(lineage, id string) string {
	sum := sha256.Sum256([]byte(lineage + " " + id))
	return "d-" + hex.EncodeToString(sum[:8])
}
