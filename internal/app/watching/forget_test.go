package watching

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/app/command"
	"deployster/internal/app/redact"
	"deployster/internal/app/repairs"
	"deployster/internal/app/workspace"
	"deployster/state"
)

// A secret that was in the state once is forgotten after two days; what is in the state is
// hidden for ever, also when nothing happens. During a repair nothing is forgotten.
func TestForget_DropsSecretsAfterTwoDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secrets := &redact.Redactor{}
		w := &watcher{engine: repairs.Keeper{Command: command.Command{Work: &workspace.Workspace{Options: workspace.Options{Secrets: secrets}}}}}
		entry := state.Entry{State: json.RawMessage(`{"token":"of-the-state"}`), Sensitive: state.Sensitive{State: []string{"/token"}}}
		w.current = &generation{look: &looker{prior: state.Snapshot{Resources: map[string]state.Entry{"a": entry}}}}
		aged := time.Now()
		secrets.Learn([]string{"of-the-state", "of-earlier-days"})
		hidden := func() (n int) {
			for _, one := range []string{"of-the-state", "of-earlier-days"} {
				if secrets.Hide(one) != one {
					n++
				}
			}
			return n
		}
		pass := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Minute) {
				w.forget(&aged)
			}
		}
		w.stateMu.Lock()
		if pass(5 * 24 * time.Hour); hidden() != 2 {
			t.Error("something was forgotten during a repair")
		}
		w.stateMu.Unlock()
		if pass(23 * time.Hour); hidden() != 2 {
			t.Error("something was forgotten on the first day")
		}
		if pass(48 * time.Hour); hidden() != 1 || secrets.Hide("of-the-state") == "of-the-state" {
			t.Errorf("%d are hidden after three days", hidden())
		}
		if pass(100 * 24 * time.Hour); hidden() != 1 || secrets.Hide("of-the-state") == "of-the-state" {
			t.Errorf("%d are hidden after a hundred days", hidden())
		}
	})
}
