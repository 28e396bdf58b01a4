package cli

import (
	"context"
	"slices"
	"time"

	"deployster/internal/diag"
	"deployster/state"
)

// adriftEvery is how often is looked whether an action has ended meanwhile.
const adriftEvery = 200 * time.Millisecond

// awaitAdrift waits for the actions that an apply which died has left running,
// so that none of them runs twice at one time. How they ended is then asked of
// reality, by the state action.
func (s *session) awaitAdrift(ctx context.Context, prior state.Snapshot) error {
	told := map[string]bool{}
	for {
		name, err := s.adrift(ctx, prior)
		if err != nil || name == "" {
			return err
		}
		if !told[name] {
			told[name] = true
			s.note("%s still runs, started by the apply that died. Waiting for its end.", diag.Visible(name))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(adriftEvery):
		}
	}
}

// warnAdrift says that what is planned now may be out of date soon.
func (s *session) warnAdrift(ctx context.Context, prior state.Snapshot) error {
	name, err := s.adrift(ctx, prior)
	if name != "" {
		s.err.diagnostic(diag.Warningf("An action still runs",
			"%s was started by the apply that died, and has not ended. What is planned now may not fit when it has.", name))
	}
	return err
}

// adrift names one action of which an apply did not see the end and which still
// runs, "" when there is none. The state file remembers them after the journal
// is gone.
func (s *session) adrift(ctx context.Context, prior state.Snapshot) (string, error) {
	var flying []state.InFlight
	for _, applied := range prior.Applied {
		flying = append(flying, applied.InFlight...)
	}
	if len(flying) == 0 {
		return "", nil
	}
	running, err := s.runtime.Adrift(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range flying {
		if name := f.Address + "/" + f.Action; slices.Contains(running, name) {
			return name, nil
		}
	}
	return "", nil
}
