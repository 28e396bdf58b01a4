package things

import (
	"deployster/internal/base/diag"
	"deployster/protocol"
	"deployster/state"
)

// Protected returns the error for a replacement of a resource that must not be destroyed.
func Protected(because, why string) *diag.Diagnostic {
	return diag.Errorf("Protected resource would be replaced", "%s, and to replace it would destroy it (%s). To replace it, first apply it "+
		"with prevent_destroy = false, and nothing else changed.", because, why)
}

// NotFirst returns the error for a resource that must be created first but cannot.
func NotFirst(because, why string) *diag.Diagnostic {
	return diag.Errorf("The new thing cannot be made first", "It has create_before_destroy = true, or something that depends on it has, "+
		"but %s (%s). Take create_before_destroy away, and it is destroyed first.", because, why)
}

// Twice returns the note that a resource may take two applies: it has an entry, and whether it means another thing becomes
// known only during apply. apart says that the entry does not matter, first that the new thing is to be created first.
func Twice(ty protocol.Type, unknown map[string]string, entry state.Entry, apart, first bool) []string {
	if apart || entry.Type == "" || entry.ReadOnly || Known(ty, unknown) {
		return nil
	}
	then := "replaces it"
	if first {
		then = "creates the new thing first"
	}
	return []string{"What identifies it becomes known only during apply. If that makes it another thing, it takes two applies: this one " +
		"stops there and leaves the recorded thing, and the next one " + then + "."}
}
