package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"time"
)

// The limits of Host.UndoUnlessReached.
const (
	MinUndo = 10 * time.Second
	MaxUndo = time.Hour
)

// Group is a group of resources on one host whose guarded actions are undone together, unless the
// host is reached again after the last.
type Group struct {
	Key       string        `json:"key"`   // random; letters and digits
	After     time.Duration `json:"after"` // from the end of the last action to the undo
	Resources []string      `json:"resources"`
}

// Protection is what the host needs of one resource of a group before its first guarded action.
type Protection struct {
	Key     string `json:"key"` // of the group
	Address string `json:"address"`
	Order   int    `json:"order"` // of its actions in the group
	Save    Spec   `json:"save"`  // run once, now
	Undo    Spec   `json:"undo"`  // its container is made now, and its input is held back
}

// Verdict reports what has become of a group.
type Verdict string

// The verdicts.
const (
	Armed     Verdict = "armed"     // nothing is decided: its actions are undone unless the host is reached
	Confirmed Verdict = "confirmed" // its actions stay
	Undoing   Verdict = "undoing"   // they are being undone
	Undone    Verdict = "undone"
	Nothing   Verdict = "nothing" // no group has that key
)

// Settlement is what has become of a group, and why its undo has not succeeded yet.
type Settlement struct {
	Verdict Verdict `json:"verdict"`
	Failure string  `json:"failure,omitempty"` // of the last attempt at the undo
}

// Settled reports whether nothing happens to the group any more.
func (s Settlement) Settled() bool { return s.Verdict == Confirmed || s.Verdict == Undone }

// Guardian guards actions on hosts: it has the host undo them unless it can be reached afterwards.
type Guardian interface {
	// Arm makes the record of a group durable on the host, and starts the process there that undoes it.
	Arm(ctx context.Context, h Host, g Group) error
	// Save saves what the undo of a resource needs, and makes the container of its undo.
	Save(ctx context.Context, h Host, p Protection) error
	// Settle decides a group over a connection that it makes for this, and waits for the end of its undo.
	// With keep it confirms the group, unless its undo has begun; else it has it undone now.
	Settle(ctx context.Context, h Host, g Group, keep bool) (Settlement, error)
	// Dismiss removes what is left of a settled group.
	Dismiss(ctx context.Context, h Host, key string) error
}

// GuardDir is where a type saves what the undo of a resource needs, on its host.
func (h Host) GuardDir(key, address string) string {
	sum := sha256.Sum256([]byte(address))
	return path.Join(h.Data(), "guard", key, hex.EncodeToString(sum[:8]))
}
