package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/machineid"
	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/stores"
	"deployster/state"
	"deployster/state/actions"
)

// The variables that declare how long a command waits for a store, and for a host.
const (
	patienceVariable = "DEPLOYSTER_STATE_PATIENCE"
	hostVariable     = "DEPLOYSTER_HOST_PATIENCE"
	fasterVariable   = "DEPLOYSTER_STATE_FASTER" // for tests: all times of the log are so much shorter
)

// Place returns the place of the state that a person has named, by a URL or by the path
// of a file.
func (w *Workspace) Place(name string) state.Place {
	if stores.IsURL(name) {
		return remote(w, name)
	}
	return state.File(w.Path(name))
}

// remote returns the state at a URL.
func remote(w *Workspace, url string) *state.Remote {
	p := &state.Remote{URL: url, Machine: machine(w.Options), Pending: filepath.Join(w.Dir, ".deployster", "pending"), Take: w.Take,
		Claims: sharedlog.Presence(filepath.Join(w.DataDir, "claims"))}
	p.Connect = func() (*sharedlog.Log, error) {
		timing, err := timing(w.Options)
		if err != nil {
			return nil, err
		}
		store, err := stores.Open(url)
		if err != nil {
			return nil, err
		}
		log := sharedlog.New(store, timing)
		log.Kept = kept(w.Options, url)
		log.Away = func(since time.Time, patience time.Duration, err error) {
			if err != nil {
				w.Note("The store of the state does not answer: %s. Trying again, for at most %s.", diag.Visible(err.Error()), patience)
				return
			}
			w.Note("The store of the state answers again, after %s.", time.Since(since).Round(time.Second))
		}
		return log, nil
	}
	return p
}

// kept returns the directory for what this machine has read of a state. Its name does not show the URL, which may have a password.
func kept(o Options, url string) sharedlog.Kept {
	if o.DataDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(url))
	return sharedlog.Kept(filepath.Join(o.DataDir, "states", hex.EncodeToString(sum[:16])))
}

// timing returns the times of the log of a state, with the given patience.
func timing(o Options) (sharedlog.Timing, error) {
	t := sharedlog.DefaultTiming()
	if text := o.Env(fasterVariable); text != "" {
		by, err := strconv.Atoi(text)
		if err != nil || by < 1 {
			return t, diag.Errorf(fasterVariable+" is not a number", "It is %q.", text)
		}
		t = t.Faster(time.Duration(by))
	}
	var err error
	t.Patience, err = patience(o, patienceVariable, t.Patience, "an apply waits for the store of a state that is away")
	return t, err
}

// HostPatience returns how long a command waits for a host whose connection was lost.
func HostPatience(o Options) (time.Duration, error) {
	return patience(o, hostVariable, router.DefaultPatience, "a host is waited for whose connection was lost")
}

// patience reads a variable that sets how long to wait for something.
func patience(o Options, variable string, usual time.Duration, what string) (time.Duration, error) {
	text := o.Env(variable)
	if text == "" {
		return usual, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, diag.Errorf(variable+" is not a duration", "It is %q. It sets how long %s: write it like 10m or 30s.", text, what)
	}
	return d, nil
}

// ActsHere reports whether a process that no longer runs started its actions on this
// machine, since its last boot, in the data directory of this workspace.
func ActsHere(w Options, by actions.By) bool {
	_, boot := by.Local()
	return boot && by.Boot != "" && by.Machine != "" && by.Machine == machine(w) && !by.Running()
}

// machine returns the ID of the data directory of this machine's containers: whoever has
// it can find out how actions ended that were started there. The ID is created when it is
// first needed; "" = it cannot be created.
func machine(o Options) string {
	if o.DataDir == "" {
		return ""
	}
	id, err := machineid.Of(o.DataDir)
	if err != nil {
		return ""
	}
	return id
}
