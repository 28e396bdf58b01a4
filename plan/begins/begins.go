package begins

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"deployster/internal/base/diag"
	"deployster/internal/base/machineid"
	"deployster/internal/runtime/runner"
	"deployster/state"
)

// State is the state that a plan may begin: any one, or the one at a place.
type State struct {
	Any     bool   `json:"any,omitempty"`
	Machine string `json:"machine,omitempty"` // the id of the machine that has Path
	Path    string `json:"path,omitempty"`    // absolute, without symbolic links
	URL     string `json:"url,omitempty"`     // of a shared state: it has no secrets in it
}

// At returns the state at a place. dataDir identifies this machine.
func At(place state.Place, dataDir string) (State, error) {
	found, err := place.Find()
	if err != nil {
		return State{}, err
	}
	if _, shared := place.(*state.Remote); shared {
		return State{URL: place.String()}, nil
	}
	machine, err := machineid.Of(dataDir)
	if err != nil {
		return State{}, diag.Errorf("Cannot identify this machine", "A signed plan that was made without a state names the machine: %s.",
			err)
	}
	path := found.State
	return State{Machine: machine, Path: filepath.Join(runner.RealDir(filepath.Dir(path)), filepath.Base(path))}, nil
}

// Is reports whether the plan may begin the state at a place.
func (s State) Is(at State) bool { return s.Any || s == at }

// String describes the state.
func (s State) String() string {
	switch {
	case s.Any:
		return "any state"
	case s.URL != "":
		return "the state " + diag.Visible(s.URL)
	}
	return "the state " + diag.Visible(s.Path) + " on the machine " + diag.Visible(s.Machine)
}

// Lineage returns the lineage of a state that begins with a saved plan. It is the same wherever the plan is used, and so are the keys of
// its actions: hosts, and types with idempotent actions, notice a second use.
func Lineage(planID string) string {
	sum := sha256.Sum256([]byte("the lineage that begins with the plan " + planID))
	return hex.EncodeToString(sum[:16])
}
