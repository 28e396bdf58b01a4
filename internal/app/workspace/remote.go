package workspace

import (
	"path/filepath"
	"strconv"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/machineid"
	"deployster/internal/sharedlog"
	"deployster/internal/stores"
	"deployster/state"
)

// The variables that say how patient a command is with a store.
const (
	patienceVariable = "DEPLOYSTER_STATE_PATIENCE"
	fasterVariable   = "DEPLOYSTER_STATE_FASTER" // for tests: all times of the log are so much shorter
)

// Place returns where the state lies that a person has named: by a URL, or the path of
// a file.
func (w *Workspace) Place(name string) state.Place {
	if stores.IsURL(name) {
		return remote(w, name)
	}
	return state.File(w.Path(name))
}

// remote is the state that a URL names.
func remote(w *Workspace, url string) *state.Remote {
	p := &state.Remote{URL: url, Machine: machine(w.Options), Pending: filepath.Join(w.Dir, ".deployster", "pending"), Take: w.Take,
		Claims: sharedlog.Presence(filepath.Join(w.DataDir, "claims"))}
	p.Connect = func() (*sharedlog.Log, error) {
		timing, err := timing(w.Options)
		if err != nil {
			return nil, err
		}
		store, err := stores.Open(url, w.Programs)
		if err != nil {
			return nil, err
		}
		log := sharedlog.New(store, timing)
		log.Away = func(since time.Time, err error) {
			if err != nil {
				w.Note("The store of the state does not answer: %s. Trying again, for at most %s.", diag.Visible(err.Error()), timing.Patience)
				return
			}
			w.Note("The store of the state answers again, after %s.", time.Since(since).Round(time.Second))
		}
		return log, nil
	}
	return p
}

// timing says how patient the log of a state is.
func timing(o Options) (sharedlog.Timing, error) {
	t := sharedlog.Usual()
	if text := o.Env(fasterVariable); text != "" {
		by, err := strconv.Atoi(text)
		if err != nil || by < 1 {
			return t, diag.Errorf(fasterVariable+" is not a number", "It is %q.", text)
		}
		t = t.Faster(time.Duration(by))
	}
	if text := o.Env(patienceVariable); text != "" {
		patience, err := time.ParseDuration(text)
		if err != nil || patience < 0 {
			return t, diag.Errorf(patienceVariable+" is not a duration",
				"It is %q. It says how long an apply waits for the store of a state that is away: write it like 10m or 30s.", text)
		}
		t.Patience = patience
	}
	return t, nil
}

// machine is the id of the directory in which this machine runs containers: who starts
// actions there can find out how they ended. It is made when it is first asked for;
// "" = it cannot be.
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
