package cli

import (
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/state"
)

// runStateReencrypt writes the state file and its copies anew, as the
// encryption block of the manifests says.
func runStateReencrypt(c *cli.Context, e Env) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	path := s.statePathAround(c)
	store, err := state.Open(c.Context, state.File(path), s.stateOptions(c, "state reencrypt"))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // the lock goes with the process anyway
	s.tell(store.Recovery())
	written, left, err := store.Reencrypt()
	if err != nil {
		return err
	}
	form := "in clear text"
	if s.keys.Encrypts() {
		form = "encrypted"
	}
	s.out.Printf("Written %s: the state file, and its copies (%d).\n", form, len(written)-1)
	for _, name := range slices.Sorted(maps.Keys(left)) {
		s.err.Diagnostic(diag.Warningf("A copy was left as it is", "%s cannot be read: %s", name, left[name]))
	}
	s.clearBeside(state.Clear(state.File(path)))
	return nil
}

// sealedAs says in one word how a file is.
func sealedAs(encrypted bool) string {
	if encrypted {
		return "  encrypted"
	}
	return ""
}
